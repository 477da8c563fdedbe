"""Tokens that the command sends to the services of a system."""

from pathlib import Path

import pytest

from sluice.clientkit.connection import connected
from sluice.network.credentials import keep_token, know_token

URL, DMS = "http://127.0.0.1:8080", "http://127.0.0.1:8081"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SLUICE_DMS_URL", DMS)
    for name in ("SLUICE_TOKEN", "SLUICE_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)


async def list_sent_tokens(token: str | None = None) -> list[str | None]:
    """Return the tokens that the operator service and the DMS get."""
    async with connected(URL, token=token) as connection:
        clients = (connection.operator, connection.dms)
        return [client._http.headers.get("authorization") for client in clients]


async def test_token_of_a_sign_in_is_sent_to_the_dms_too() -> None:
    assert await list_sent_tokens() == [None, None]
    keep_token(URL, "mine")
    assert await list_sent_tokens() == ["Bearer mine"] * 2


async def test_token_stored_for_the_dms_takes_precedence_there() -> None:
    keep_token(URL, "mine")
    keep_token(DMS, "another")
    assert await list_sent_tokens() == ["Bearer mine", "Bearer another"]


async def test_system_of_a_home_folder_has_its_own_dms(tmp_path: Path) -> None:
    url = "http://127.0.0.1:8098"
    know_token(url, tmp_path / "token")
    async with connected(url) as connection:
        assert connection.dms._http.base_url == f"{url}/services/dms/"


async def test_given_token_overrides_stored_tokens_and_an_empty_token_is_none() -> None:
    keep_token(URL, "mine")
    assert await list_sent_tokens("given") == ["Bearer given"] * 2
    assert await list_sent_tokens("") == [None, None]
