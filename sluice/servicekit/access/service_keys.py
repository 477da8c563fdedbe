"""Keys with which services authenticate each other (Ed25519, RFC 8037).

Each service has a private key and knows the public keys of its callers. One folder holds them as
``NAME.key`` and ``NAME.pub`` in PEM. Changed files are read again, so keys can be changed without a
restart.
"""

from collections.abc import Mapping
from pathlib import Path

import structlog
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from sluice.contracts.access.services import CallingService, short_name
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

_CURVE, _END = "Ed25519", "-----END"
_MAKE = "`sluice setup service-keys FOLDER` makes what is missing"


class InvalidKeys(ValueError):
    """A key cannot be used. The message names the key and says what to do."""


def key_files(folder: Path, service: str) -> tuple[Path, Path]:
    """Return the paths of the private key and the public keys of a service."""
    name = short_name(service)
    return folder / f"{name}.key", folder / f"{name}.pub"


def read_keys(path: Path, *, private: bool) -> list[OKPKey]:
    """Return all keys of a file, the newest last.

    Raises:
        InvalidKeys: The file is missing or holds anything but keys of the wanted kind.
    """
    try:
        parts = [part for part in path.read_text().split(_END) if "BEGIN" in part]
        keys = [OKPKey.import_key(f"{_from_begin(part)}{_end_line(part)}\n") for part in parts]
    except OSError as error:
        raise InvalidKeys(
            f"the key file {path} cannot be read ({reason_of(error)}): {_MAKE}"
        ) from error
    except (JoseError, ValueError) as error:
        raise InvalidKeys(f"{path} contains something other than keys in PEM: {_MAKE}") from error
    if not keys:
        raise InvalidKeys(f"{path} contains no key in PEM: {_MAKE}")
    if any(key.curve_name != _CURVE or (private and not key.is_private) for key in keys):
        kind = "private" if private else "public"
        raise InvalidKeys(f"{path} contains something other than {kind} {_CURVE} keys: {_MAKE}")
    return keys


def _from_begin(part: str) -> str:
    return part[part.index("-----BEGIN") :]


def _end_line(part: str) -> str:
    """Return the END line that belongs to the BEGIN line of a PEM part."""
    kind = _from_begin(part).removeprefix("-----BEGIN").partition("-----")[0]
    return f"{_END}{kind}-----"


class ServiceKeys:
    """The keys that a service knows.

    A public file holds several keys while they are being changed.
    """

    def __init__(self, folder: Path, service: str) -> None:
        """Read the keys of a folder for ``service``.

        Raises:
            InvalidKeys: A key is missing or cannot be used.
        """
        self.service = CallingService(service)
        self._own_key = _KeyFile(key_files(folder, service)[0], private=True)
        self._public = {name: _KeyFile(key_files(folder, name)[1]) for name in CallingService}
        self._own_key.require()
        for file in self._public.values():
            if file.path.exists():
                file.require()
        self._require_sound(folder)

    def own(self) -> OKPKey:
        """Return the private key that signs."""
        return self._own_key.current()[-1]

    def public_keys(self) -> Mapping[str, tuple[CallingService, OKPKey]]:
        """Return the public keys by thumbprint (RFC 7638), with the service of each."""
        return {
            key.thumbprint(): (service, key)
            for service, file in self._public.items()
            for key in file.current()
        }

    def _require_sound(self, folder: Path) -> None:
        prints: dict[str, CallingService] = {}
        for service, file in self._public.items():
            for key in file.current():
                other = prints.setdefault(key.thumbprint(), service)
                if other is not service:
                    raise InvalidKeys(
                        f"{short_name(other)}.pub and {short_name(service)}.pub in {folder} contain"
                        " the same key: each service needs its own key"
                    )
        if not prints:
            raise InvalidKeys(f"there is no public key (NAME.pub) in {folder}: {_MAKE}")
        if self._public[self.service].path.exists() and (
            prints.get(self.own().thumbprint()) is not self.service
        ):
            private, public = (file.name for file in key_files(folder, self.service))
            raise InvalidKeys(
                f"{private} does not match {public} in {folder}: `sluice setup service-keys"
                f" {folder}` adds what is missing; give all services that {public}"
            )


class _KeyFile:
    def __init__(self, path: Path, *, private: bool = False) -> None:
        self.path = path
        self._private = private
        #: Inode, modification time and size of the file when it was last read.
        self._stamp: tuple[int, int, int] | None = None
        self._keys: list[OKPKey] = []

    def require(self) -> None:
        """Read the file.

        Raises:
            InvalidKeys: The file cannot be used.
        """
        self._stamp = self._stamp_now()
        self._keys = read_keys(self.path, private=self._private)

    def current(self) -> list[OKPKey]:
        """Return the keys of the file, or those read before if the file has become unreadable."""
        if self._stamp_now() not in {None, self._stamp}:
            try:
                self.require()
            except InvalidKeys as error:
                log.warning("keys.unreadable", file=str(self.path), reason=str(error))
        return self._keys

    def _stamp_now(self) -> tuple[int, int, int] | None:
        """Return the state of the file, or None if it does not exist."""
        try:
            state = self.path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size
