"""Keys by which services prove who they are (Ed25519, RFC 8037): each has a private one of its own,
and knows the public ones of those that ask it. Files in one folder, ``NAME.key`` and ``NAME.pub``
in PEM, read again when they change: keys are changed without a stop."""

from collections.abc import Mapping
from pathlib import Path

import structlog
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from sluice.contracts.access import CallingService
from sluice.servicekit.settings import short_name

log = structlog.get_logger(__name__)

_END = "-----END"


class BadKeys(ValueError):
    """A key that cannot be used; the sentence says which, and what to do."""


def key_files(folder: Path, service: str) -> tuple[Path, Path]:
    """Of the private key, and of the public ones."""
    name = short_name(service)
    return folder / f"{name}.key", folder / f"{name}.pub"


class ServiceKeys:
    """As ``service`` sees them. A public file holds several where keys are being changed."""

    def __init__(self, folder: Path, service: str) -> None:
        """Raises ``BadKeys``."""
        self.service = CallingService(service)
        self._own = _KeyFile(key_files(folder, service)[0])
        self._public = {name: _KeyFile(key_files(folder, name)[1]) for name in CallingService}
        self._own.read()
        if not self.known():
            raise BadKeys(f"there is no public key (NAME.pub) in {folder}: {_MAKE}")

    def own(self) -> OKPKey:
        """The private one that signs."""
        return self._own.current()[-1]

    def known(self) -> Mapping[str, tuple[CallingService, OKPKey]]:
        """Public ones by their thumbprints (RFC 7638). A service without a file is not known."""
        return {
            key.thumbprint(): (service, key)
            for service, file in self._public.items()
            if file.there
            for key in file.current()
        }


_MAKE = "`sluice setup service-keys FOLDER` makes what is missing"


class _KeyFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._keys: list[OKPKey] = []

    @property
    def there(self) -> bool:
        return self._path.exists() or bool(self._keys)

    def current(self) -> list[OKPKey]:
        """Those of before where the file cannot be read any more, or only in part. Raises
        ``BadKeys`` where it never could."""
        try:
            if self._stamp_now() != self._stamp:
                self.read()
        except (BadKeys, OSError) as error:
            if not self._keys:
                raise BadKeys(str(error)) from error
            log.warning("keys.unreadable", file=str(self._path), reason=str(error))
        return self._keys

    def read(self) -> None:
        """Raises ``BadKeys``."""
        try:
            stamp = self._stamp_now()
            parts = [part for part in self._path.read_text().split(_END) if "BEGIN" in part]
            found = [OKPKey.import_key(f"{_from_begin(part)}{_end_of(part)}\n") for part in parts]
        except OSError as error:
            raise BadKeys(
                f"the key file {self._path} cannot be read ({error.strerror}): {_MAKE}"
            ) from error
        except (JoseError, ValueError) as error:
            raise BadKeys(
                f"{self._path} holds something else than Ed25519 keys in PEM ({error}): {_MAKE}"
            ) from error
        if not found:
            raise BadKeys(f"{self._path} holds no key in PEM: {_MAKE}")
        self._stamp, self._keys = stamp, found

    def _stamp_now(self) -> tuple[int, int, int]:
        state = self._path.stat()
        return state.st_ino, state.st_mtime_ns, state.st_size


def _from_begin(part: str) -> str:
    return part[part.index("-----BEGIN") :]


def _end_of(part: str) -> str:
    """The line that ends a part which begins like this one."""
    kind = _from_begin(part).removeprefix("-----BEGIN").partition("-----")[0]
    return f"{_END}{kind}-----"
