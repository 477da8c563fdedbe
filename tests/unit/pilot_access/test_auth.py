"""Tests of the credentials in the requests of a pilot."""

from pathlib import Path

import httpx
import pytest

from sluice.contracts.access.access import PILOT_TOKEN_HEADER
from sluice.pilot_access.auth import PilotAuth


class Wms:
    """A WMS that gives one of these tokens with each answer; None gives no token."""

    def __init__(self, *gives: str | None) -> None:
        self.authorizations: list[str | None] = []
        self._gives = [*gives]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.authorizations.append(request.headers.get("authorization"))
        token = self._gives.pop(0) if self._gives else None
        return httpx.Response(200, headers={} if token is None else {PILOT_TOKEN_HEADER: token})


async def _ask(wms: Wms, auth: PilotAuth, *paths: str) -> list[str | None]:
    transport = httpx.MockTransport(wms)
    async with httpx.AsyncClient(transport=transport, base_url="http://wms", auth=auth) as http:
        for path in paths:
            await http.post(path)
    return wms.authorizations


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("enrolment\n")
    return path


async def test_pilot_registers_with_its_token_file_and_then_uses_the_tokens_that_it_gets(
    file: Path,
) -> None:
    wms = Wms("first", "second", None)

    authorizations = await _ask(
        wms,
        PilotAuth(file),
        "/api/v1/pilots",
        "/api/v1/pilots/u/heartbeat",
        "/api/v1/pilots/u/report",
        "/api/v1/pilots/u/lease",
    )

    assert authorizations == ["Bearer enrolment", "Bearer first", "Bearer second", "Bearer second"]


async def test_pilot_reads_its_token_file_again_to_register_again(file: Path) -> None:
    wms, auth = Wms("first"), PilotAuth(file)
    await _ask(wms, auth, "/services/wms/api/v1/pilots")
    file.write_text("changed")  # noqa: ASYNC240 - a few bytes

    authorizations = await _ask(wms, auth, "/services/wms/api/v1/pilots")

    assert authorizations == ["Bearer enrolment", "Bearer changed"]


async def test_pilot_without_a_token_file_sends_no_credentials() -> None:
    assert await _ask(Wms(), PilotAuth(None), "/api/v1/pilots", "/api/v1/pilots/u/lease") == [
        None,
        None,
    ]


async def test_missing_token_file_is_a_transport_error(tmp_path: Path) -> None:
    with pytest.raises(
        httpx.TransportError, match=r"the pilot has no token: .* cannot be read: No such file"
    ):
        await _ask(Wms(), PilotAuth(tmp_path / "none"), "/api/v1/pilots")
