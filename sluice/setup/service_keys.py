"""Makes and changes the keys by which services prove who they are.

To change keys without a stop: new ones are made, and their public parts stand beside the old ones
first; when all services have read them, the old ones are forgotten.
"""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path

from filelock import FileLock
from joserfc.jwk import OKPKey

from sluice.contracts.access import CallingService
from sluice.servicekit.access.service_keys import key_files, read_keys
from sluice.servicekit.settings import short_name

#: Of files: a private key is for its service alone.
_PRIVATE, _PUBLIC = 0o600, 0o644

#: Those that run; what prepares an installation asks nobody.
SERVICES = [service for service in CallingService if service is not CallingService.SETUP]


def _alone(change: Callable[[Path], list[str]]) -> Callable[[Path], list[str]]:
    """One at a time changes a folder."""

    @wraps(change)
    def changed(folder: Path) -> list[str]:
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        with FileLock(folder / ".lock"):
            return change(folder)

    return changed


@_alone
def make_keys(folder: Path) -> list[str]:
    """Those that are missing; says what it made. Raises ``OSError``, ``BadKeys``."""
    return _make(folder)


def _make(folder: Path) -> list[str]:
    changes = []
    for service in SERVICES:
        private, public = key_files(folder, service)
        if not private.exists():
            key = _new_key()
            _write(public, [*_public_of(public), _public(key)], _PUBLIC)
            _write(private, [_private(key)], _PRIVATE)
            changes.append(f"made the key of {short_name(service)}")
        elif _lacks(public, _read(private)):
            _write(public, [*_public_of(public), _public(_read(private))], _PUBLIC)
            changes.append(f"wrote the public key of {short_name(service)}")
    return changes


@_alone
def rotate_keys(folder: Path) -> list[str]:
    """A new key for each service; the public one of before stays beside its own. Raises
    ``OSError``, ``BadKeys`` (then nothing has changed)."""
    changes = _make(folder)
    for service in SERVICES:
        private, public = key_files(folder, service)
        old, new = _read(private), _new_key()
        # The public one first: nothing is signed with a key that nobody knows.
        _write(public, [_public(old), _public(new)], _PUBLIC)
        _write(private, [_private(new)], _PRIVATE)
        changes.append(f"changed the key of {short_name(service)}")
    return changes


@_alone
def forget_old_keys(folder: Path) -> list[str]:
    """Of each service only the public key that goes with its private one stays. Raises
    ``OSError``, ``BadKeys``."""
    changes = []
    for service in SERVICES:
        private, public = key_files(folder, service)
        own = _public(_read(private))
        if public.read_bytes().strip() != own.strip():
            _write(public, [own], _PUBLIC)
            changes.append(f"forgot old keys of {short_name(service)}")
    return changes


def _new_key() -> OKPKey:
    return OKPKey.generate_key("Ed25519")


def _read(private: Path) -> OKPKey:
    """The one that signs."""
    return read_keys(private, private=True)[-1]


def _lacks(public: Path, own: OKPKey) -> bool:
    return not public.exists() or own.thumbprint() not in {
        key.thumbprint() for key in read_keys(public, private=False)
    }


def _private(key: OKPKey) -> bytes:
    return key.as_pem(private=True)


def _public(key: OKPKey) -> bytes:
    return key.as_pem(private=False)


def _public_of(public: Path) -> list[bytes]:
    return [public.read_bytes()] if public.exists() else []


def _write(path: Path, parts: Sequence[bytes], rights: int) -> None:
    """Whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), "wb") as file:
        file.write(b"".join(part.rstrip() + b"\n" for part in parts))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
