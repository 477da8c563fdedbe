"""Tokens of systems, as their users keep them: each in a file of its own that nobody else may read.

A system that is started on this machine puts its token there, and ``sluice login`` puts its own
beside it; whoever asks a system looks there for those of its address. ``SLUICE_TOKEN`` goes first,
then the file that ``SLUICE_TOKEN_FILE`` names, then the token of ``sluice login``. A system that
was found through its home folder is asked with the token that lies there: the variables are meant
for the system of ``SLUICE_URL`` or ``--url``.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

#: Variable with the address of the system that commands use.
URL = "SLUICE_URL"
#: Variable with the token for that system.
TOKEN = "SLUICE_TOKEN"  # noqa: S105 - the variable's name
#: Variable with the path of a file that has it.
TOKEN_FILE = "SLUICE_TOKEN_FILE"  # noqa: S105 - the variable's name
_PORTS = {"http": 80, "https": 443}
_LOOPBACK = {"localhost": "127.0.0.1", "::1": "127.0.0.1"}


#: Address → file with the token of the system there.
_known: dict[str, Path] = {}
#: Address → address of the DMS there.
_known_dms: dict[str, str] = {}


def token_for(url: str) -> str | None:
    """Return the token for the system at this address; None: none is known.

    Raises:
        OSError: a variable holds something else than a token.
    """
    if is_own_system(url):
        with suppress(OSError, ValueError):
            if own := read_token(_known_file(url)):
                return own
    given = os.environ.get(TOKEN, "").strip()
    if given:
        return _one_word(given, TOKEN)
    if told := os.environ.get(TOKEN_FILE, ""):
        return read_token(Path(told), f"{TOKEN_FILE}: ")
    for find in (_known_file, _login_file, _file):
        with suppress(OSError, ValueError, RuntimeError):
            if found := read_token(find(url)):
                return found
    return None


def read_token(path: Path, where: str = "") -> str:
    """What the file has in it. Raises ``OSError``, which begins with ``where`` and repeats nothing
    of what is there."""
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise OSError(f"{where}{path} cannot be read: {error.strerror}") from error
    return _one_word(text.strip(), f"{where}{path}")


def _one_word(text: str, where: str) -> str:
    """Raises ``OSError``."""
    if not all("!" <= letter <= "~" for letter in text):
        raise OSError(f"{where} does not hold a token, which is one word of printable letters")
    return text


def headers_for(url: str, *, token: str | None = None) -> dict[str, str]:
    """What a request to the system at this address says of who sends it. ``token``: in place of the
    one that is known; empty: none. Raises ``OSError`` as ``token_for``."""
    token = token_for(url) if token is None else token
    return {} if not token else {"Authorization": f"Bearer {token}"}


def know_token(url: str, file: Path, *, dms_url: str | None = None) -> None:
    """Note for this process that the token of the system at ``url`` is in ``file``.

    Args:
        url: Address of the system.
        file: Holds the token.
        dms_url: Address of its DMS; None: where an embedded system has it.
    """
    _known[_name(url)] = file
    if dms_url is not None:
        _known_dms[_name(url)] = dms_url


def known_dms(url: str) -> str | None:
    """Return the address of the DMS of a system that this process knows, where it is noted."""
    with suppress(ValueError):
        return _known_dms.get(_name(url))
    return None


def is_own_system(url: str) -> bool:
    """Return whether this process found the system at this address through its home folder.

    Variables for another system, such as ``SLUICE_TOKEN``, say nothing about it then.
    """
    with suppress(ValueError):
        return _name(url) in _known and _name(url) != _name(os.environ.get(URL, ""))
    return False


def keep_token(url: str, token: str) -> None:
    """Keep the token of a system that runs on this machine, for who asks it from now on.

    A login at a system that had the address before is forgotten.

    Raises:
        OSError: there is no place to keep the token.
    """
    _write(_file, url, token)
    forget_login(url)


def forget_token(url: str, token: str) -> None:
    """Forget the token of a system, unless another system has begun at its address since."""
    with suppress(OSError, ValueError, RuntimeError):
        path = _file(url)
        if path.read_text().strip() == token:
            path.unlink()


def keep_login(url: str, token: str) -> None:
    """Keep the token of somebody who signs in at a system.

    Raises:
        OSError: there is no place to keep the token.
    """
    _write(_login_file, url, token)


def find_login(url: str) -> str | None:
    """Return the token that ``keep_login`` kept, whatever goes before it."""
    with suppress(OSError, ValueError, RuntimeError):
        return read_token(_login_file(url)) or None
    return None


def forget_login(url: str) -> None:
    """Forget the token that ``keep_login`` kept; the system's own stays."""
    with suppress(OSError, ValueError, RuntimeError):
        _login_file(url).unlink(missing_ok=True)


def _write(find: Callable[[str], Path], url: str, token: str) -> None:
    """Raises ``OSError``."""
    try:
        path = find(url)
    except (ValueError, RuntimeError) as error:
        raise OSError(f"the token for {url} cannot be kept: {error}") from error
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, token)


def write_private(path: Path, text: str, *, rights: int = 0o600) -> None:
    """Whole or not at all, for this user alone unless other ``rights`` are given. Raises
    ``OSError``."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(new, flags, rights), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def _known_file(url: str) -> Path:
    """Raises ``FileNotFoundError``, ``ValueError``."""
    found = _known.get(_name(url))
    if found is None:
        raise FileNotFoundError(url)
    return found


def _file(url: str) -> Path:
    """Raises ``ValueError`` for what is no address, ``RuntimeError`` where the user has no home."""
    return _folder() / "tokens" / _name(url)


def _login_file(url: str) -> Path:
    """Raises ``ValueError``, ``RuntimeError`` as ``_file``."""
    return _folder() / "logins" / _name(url)


def _folder() -> Path:
    """Raises ``RuntimeError``."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "sluice"


def _name(url: str) -> str:
    """Of the system at an address; all of its services have the same. Raises ``ValueError``."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = parts.port or _PORTS.get(parts.scheme, 0)
    return f"{_LOOPBACK.get(host, host)}:{port}".replace("/", "_")
