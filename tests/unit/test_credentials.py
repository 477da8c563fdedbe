"""Storage and lookup of tokens of systems."""

import stat
from pathlib import Path

import pytest

from sluice.network.credentials import (
    find_login,
    forget_login,
    forget_token,
    headers_for,
    keep_login,
    keep_token,
    know_token,
    token_for,
    write_private,
)

URL = "http://127.0.0.1:8080"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SLUICE_TOKEN", raising=False)
    monkeypatch.delenv("SLUICE_TOKEN_FILE", raising=False)
    return tmp_path


def test_stored_token_is_found_by_the_address() -> None:
    keep_token(URL, "one")

    assert token_for(URL) == "one"
    assert headers_for(f"{URL}/services/dms") == {"Authorization": "Bearer one"}
    assert token_for("http://localhost:8080/") == "one"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8081", "http://192.0.2.1:8080", "https://127.0.0.1", "nonsense", ""]
)
def test_other_address_does_not_get_the_token(url: str) -> None:
    keep_token(URL, "one")

    assert token_for(url) is None
    assert headers_for(url) == {}


def test_token_in_the_environment_takes_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_token(URL, "one")
    monkeypatch.setenv("SLUICE_TOKEN", "two")

    assert token_for(URL) == "two"


def test_system_of_a_home_folder_gets_its_own_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://127.0.0.1:8099"
    (tmp_path / "token").write_text("own\n")
    know_token(url, tmp_path / "token")
    monkeypatch.setenv("SLUICE_TOKEN", "of another system")
    monkeypatch.setenv("SLUICE_URL", URL)
    assert token_for(url) == "own"

    monkeypatch.setenv("SLUICE_TOKEN", "personal")
    monkeypatch.setenv("SLUICE_URL", url)
    assert token_for(url) == "personal", "the user chose this address together with the token"


def test_token_file_in_the_environment_takes_precedence_over_a_stored_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_token(URL, "one")
    (tmp_path / "mine").write_text("two\n")
    monkeypatch.setenv("SLUICE_TOKEN_FILE", str(tmp_path / "mine"))

    assert token_for(URL) == "two"
    (tmp_path / "mine").unlink()
    with pytest.raises(OSError, match=r"SLUICE_TOKEN_FILE: .*/mine cannot be read: No such file"):
        token_for(URL)


@pytest.mark.parametrize("text", ["se cret", "secret\nother", "s\x00ecret", "sécret", "s\tecret"])
def test_invalid_token_is_not_repeated_in_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "key").write_text(text)
    monkeypatch.setenv("SLUICE_TOKEN_FILE", str(tmp_path / "key"))
    with pytest.raises(OSError, match="does not hold a token") as refused:
        headers_for(URL)
    assert "cret" not in str(refused.value)
    keep_token(URL, text)
    monkeypatch.delenv("SLUICE_TOKEN_FILE")
    assert token_for(URL) is None


def test_token_of_the_process_takes_precedence_over_a_stored_token(tmp_path: Path) -> None:
    """The token of the process needs no place to store tokens."""
    url = "http://127.0.0.1:8099"
    keep_token(url, "of-a-system-before")
    (tmp_path / "token").write_text("of-the-home-folder")

    know_token(url, tmp_path / "token")
    assert token_for(f"{url}/services/wms") == "of-the-home-folder"
    (tmp_path / "token").unlink()
    assert token_for(url) == "of-a-system-before"


def test_stored_token_is_private(place: Path) -> None:
    keep_token(URL, "one")

    [file] = (place / "sluice/tokens").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_sign_in_takes_precedence_until_it_is_removed() -> None:
    keep_token(URL, "of-the-system")
    keep_login(URL, "mine\n")
    assert find_login(URL) == "mine"
    assert token_for(URL) == "mine"

    forget_login(URL)

    assert find_login(URL) is None
    assert token_for(URL) == "of-the-system"


def test_new_token_of_a_system_replaces_an_old_sign_in() -> None:
    keep_login(URL, "mine")

    keep_token(URL, "of-the-next-system")

    assert token_for(URL) == "of-the-next-system"


def test_only_the_given_token_is_forgotten() -> None:
    keep_token(URL, "one")
    keep_token(URL, "two")

    forget_token(URL, "one")
    assert token_for(URL) == "two"
    forget_token(URL, "two")
    assert token_for(URL) is None


def test_missing_place_for_tokens_is_an_error_on_storing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))

    with pytest.raises(OSError, match="Not a directory"):
        keep_token(URL, "one")
    forget_token(URL, "one")

    assert token_for(URL) is None


def test_token_of_an_invalid_address_cannot_be_stored() -> None:
    with pytest.raises(OSError, match=r"the token for 'http://\[' cannot be kept"):
        keep_token("http://[", "one")


def test_private_file_is_replaced_atomically_and_stays_private(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("open to all")
    file.chmod(0o644)

    write_private(file, "new")

    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("url", ["http://[", "http://127.0.0.1:port", "http://127.0.0.1:99999"])
def test_malformed_address_of_a_system_is_named(tmp_path: Path, url: str) -> None:
    with pytest.raises(OSError, match=r"is not an address \(.*start it again") as refused:
        know_token(url, tmp_path / "token")
    assert url in str(refused.value)


def test_address_of_a_system_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"start it again") as refused:
        know_token("http://127.0.0.1:\x1b[2J", tmp_path / "a\x1bc")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "url", ["http://user:geheim@127.0.0.1:1", "https://geheim@sluice.example/x"]
)
def test_address_with_a_password_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(OSError, match="has a user name or password") as refused:
        token_for(url)
    assert "geheim" not in str(refused.value)
