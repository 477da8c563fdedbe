"""Creation and rotation of the keys with which services authenticate.

Keys are changed without a stop: new public keys are first added to the old ones. When all services
have read them, the old keys are removed.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

from filelock import FileLock
from joserfc.jwk import OKPKey

from sluice.contracts.access.services import SERVICES, short_name
from sluice.network.credentials import write_private
from sluice.servicekit.access.service_keys import key_files, read_keys


def _with_lock(change: Callable[[Path], list[str]]) -> Callable[[Path], list[str]]:
    """Let only one process at a time change a folder."""

    @wraps(change)
    def wrapper(folder: Path) -> list[str]:
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        with FileLock(folder / ".lock"):
            return change(folder)

    return wrapper


@_with_lock
def make_keys(folder: Path) -> list[str]:
    """Make missing keys and return a message for each.

    Raises:
        OSError: A file cannot be read or written.
        InvalidKeys: A key cannot be used.
    """
    return _make(folder)


def _make(folder: Path) -> list[str]:
    changes = []
    for service in SERVICES:
        private, public = key_files(folder, service)
        if not private.exists():
            key = _new_key()
            _write_public(public, _read_public(public) + _public_pem(key))
            _write_key(private, key)
            changes.append(f"made the key of {short_name(service)}")
        elif _lacks_key(public, _read_key(private)):
            _write_public(public, _read_public(public) + _public_pem(_read_key(private)))
            changes.append(f"wrote the public key of {short_name(service)}")
    return changes


@_with_lock
def rotate_keys(folder: Path) -> list[str]:
    """Make a new key for each service, and keep its previous public key.

    Raises:
        OSError: A file cannot be read or written.
        InvalidKeys: A key cannot be used, and nothing has changed.
    """
    changes = _make(folder)
    for service in SERVICES:
        private, public = key_files(folder, service)
        old, new = _read_key(private), _new_key()
        # The public key comes first, so that nothing is signed with an unknown key.
        _write_public(public, _public_pem(old, new))
        _write_key(private, new)
        changes.append(f"changed the key of {short_name(service)}")
    return changes


@_with_lock
def forget_old_keys(folder: Path) -> list[str]:
    """Remove the public keys of each service that do not belong to its private key.

    Raises:
        OSError: A file cannot be read or written.
        InvalidKeys: A key cannot be used.
    """
    changes = []
    for service in SERVICES:
        private, public = key_files(folder, service)
        own = _public_pem(_read_key(private))
        if _read_public(public) != own:
            _write_public(public, own)
            changes.append(f"forgot old keys of {short_name(service)}")
    return changes


def _new_key() -> OKPKey:
    return OKPKey.generate_key("Ed25519")


def _read_key(private: Path) -> OKPKey:
    """Return the private key that signs."""
    return read_keys(private, private=True)[-1]


def _lacks_key(public: Path, own_key: OKPKey) -> bool:
    return not public.exists() or own_key.thumbprint() not in {
        key.thumbprint() for key in read_keys(public, private=False)
    }


def _public_pem(*keys: OKPKey) -> str:
    return "".join(key.as_pem(private=False).decode() for key in keys)


def _read_public(public: Path) -> str:
    return public.read_text() if public.exists() else ""


def _write_key(private: Path, key: OKPKey) -> None:
    write_private(private, key.as_pem(private=True).decode())


def _write_public(public: Path, text: str) -> None:
    write_private(public, text, rights=0o644)
