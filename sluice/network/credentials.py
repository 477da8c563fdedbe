"""Tokens of systems, each in a file that only its user can read.

A system on this machine stores its token there, and so does ``sluice login``. Commands look there
for the token of the system's address. ``SLUICE_TOKEN`` comes first, then the file that
``SLUICE_TOKEN_FILE`` names, then the token of ``sluice login``, then the system's own. For a system
that was found through its home folder, the token in that folder comes first: the variables are for
the system of ``SLUICE_URL`` or ``--url``.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted, shown_path

#: The variable with the address of the system that commands use.
URL = "SLUICE_URL"
#: The variable with the token for that system.
TOKEN = "SLUICE_TOKEN"  # noqa: S105 - the variable's name
#: The variable with the path of a file with that token.
TOKEN_FILE = "SLUICE_TOKEN_FILE"  # noqa: S105 - the variable's name
_PORTS = {"http": 80, "https": 443}
_LOOPBACK = {"localhost": "127.0.0.1", "::1": "127.0.0.1"}


#: By address of a system, the file with its token.
_token_files: dict[str, Path] = {}
#: By address of a system, the address of its DMS.
_dms_addresses: dict[str, str] = {}


def token_for(url: str) -> str | None:
    """Return the token for the system at this address, or None if no token is known.

    Raises:
        OSError: A variable contains no token, its file cannot be read, or the address has a user
            name or password.
    """
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise OSError(
            "the address of the system has a user name or password, which Sluice does not use: give"
            f" a token in {TOKEN}, or sign in with `sluice login`"
        )
    if is_own_system(url):
        with suppress(OSError, ValueError):
            if own := read_token(_known_file(url)):
                return own
    token = os.environ.get(TOKEN, "").strip()
    if token:
        return _require_one_word(token, TOKEN)
    if token_file := os.environ.get(TOKEN_FILE, ""):
        return read_token(Path(token_file), f"{TOKEN_FILE}: ")
    for find in (_known_file, _login_file, _file):
        with suppress(OSError, ValueError, RuntimeError):
            if token := read_token(find(url)):
                return token
    return None


def read_token(path: Path, where: str = "") -> str:
    """Return the token in a file.

    Raises:
        OSError: The file cannot be read, or has no token. The message starts with ``where`` and
            does not show the content.
    """
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise OSError(f"{where}{shown_path(path)} cannot be read: {reason_of(error)}") from error
    return _require_one_word(text.strip(), f"{where}{shown_path(path)}")


def _require_one_word(text: str, where: str) -> str:
    """Check that a token is one word.

    Raises:
        OSError: It is not.
    """
    if not all("!" <= letter <= "~" for letter in text):
        raise OSError(f"{where} does not hold a token, which is one word of printable letters")
    return text


def headers_for(url: str, *, token: str | None = None) -> dict[str, str]:
    """Return the headers that authenticate a request to a system.

    Args:
        url: The address of the system.
        token: The token to use instead of the known one. An empty text means no token.

    Raises:
        OSError: A variable contains no token, or its file cannot be read.
    """
    token = token_for(url) if token is None else token
    return {} if not token else {"Authorization": f"Bearer {token}"}


def know_token(url: str, file: Path, *, dms_url: str | None = None) -> None:
    """Remember in this process that the token of the system at ``url`` is in ``file``.

    Args:
        url: The address of the system.
        file: The file with the token.
        dms_url: The address of its DMS. None is the default, below the system's address.

    Raises:
        OSError: The URL is not an address.
    """
    try:
        name = _name(url)
    except ValueError as error:
        raise OSError(
            f"{quoted(url)}, the address of the system whose token is in {shown_path(file)}, is"
            f" not an address ({reason_of(error)}): stop that system and start it again"
        ) from error
    _token_files[name] = file
    if dms_url is not None:
        _dms_addresses[name] = dms_url


def known_dms(url: str) -> str | None:
    """Return the address of the DMS of a system, if this process remembers it."""
    with suppress(ValueError):
        return _dms_addresses.get(_name(url))
    return None


def is_own_system(url: str) -> bool:
    """Return whether this process found the system at this address through its home folder.

    Variables for another system, such as ``SLUICE_TOKEN``, do not apply to it then.
    """
    with suppress(ValueError):
        return _name(url) in _token_files and _name(url) != _name(os.environ.get(URL, ""))
    return False


def keep_token(url: str, token: str) -> None:
    """Store the token of a system that runs on this machine.

    The login at a system that had the address before is removed.

    Raises:
        OSError: The token cannot be stored.
    """
    _write(_file, url, token)
    forget_login(url)


def forget_token(url: str, token: str) -> None:
    """Remove the token of a system, unless another system has started at its address since."""
    with suppress(OSError, ValueError, RuntimeError):
        path = _file(url)
        if path.read_text().strip() == token:
            path.unlink()


def keep_login(url: str, token: str) -> None:
    """Store the token of a person who signed in at a system.

    Raises:
        OSError: The token cannot be stored.
    """
    _write(_login_file, url, token)


def find_login(url: str) -> str | None:
    """Return the token that ``keep_login`` stored, regardless of other tokens."""
    with suppress(OSError, ValueError, RuntimeError):
        return read_token(_login_file(url)) or None
    return None


def forget_login(url: str) -> None:
    """Remove the token that ``keep_login`` stored. The system's own token stays."""
    with suppress(OSError, ValueError, RuntimeError):
        _login_file(url).unlink(missing_ok=True)


def _write(find: Callable[[str], Path], url: str, token: str) -> None:
    """Write a token to its file.

    Raises:
        OSError: The token cannot be stored.
    """
    try:
        path = find(url)
    except (ValueError, RuntimeError) as error:
        raise OSError(f"the token for {quoted(url)} cannot be kept: {reason_of(error)}") from error
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, token)


def write_private(path: Path, text: str, *, rights: int = 0o600) -> None:
    """Write a file atomically, with access for this user only unless other ``rights`` are given.

    Raises:
        OSError: The file cannot be written.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(new, flags, rights), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def _known_file(url: str) -> Path:
    """Return the file with the token of a system that this process remembers.

    Raises:
        FileNotFoundError: There is none.
        ValueError: The URL is not an address.
    """
    file = _token_files.get(_name(url))
    if file is None:
        raise FileNotFoundError(url)
    return file


def _file(url: str) -> Path:
    """Return the path of the token that a system stores.

    Raises:
        ValueError: The URL is not an address.
        RuntimeError: The user has no home folder.
    """
    return _folder() / "tokens" / _name(url)


def _login_file(url: str) -> Path:
    """Return the path of the token that ``keep_login`` stores.

    Raises:
        ValueError: The URL is not an address.
        RuntimeError: The user has no home folder.
    """
    return _folder() / "logins" / _name(url)


def _folder() -> Path:
    """Return the folder of the tokens.

    Raises:
        RuntimeError: The user has no home folder.
    """
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "sluice"


def _name(url: str) -> str:
    """Return the file name for the system at an address. All services of a system share it.

    Raises:
        ValueError: The URL is not an address.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = parts.port or _PORTS.get(parts.scheme, 0)
    return f"{_LOOPBACK.get(host, host)}:{port}".replace("/", "_")
