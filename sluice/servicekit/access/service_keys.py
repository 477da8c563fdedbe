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

_CURVE, _END = "Ed25519", "-----END"
_MAKE = "`sluice setup service-keys FOLDER` makes what is missing"


class BadKeys(ValueError):
    """A key that cannot be used; the sentence says which, and what to do."""


def key_files(folder: Path, service: str) -> tuple[Path, Path]:
    """Of the private key, and of the public ones."""
    name = short_name(service)
    return folder / f"{name}.key", folder / f"{name}.pub"


def read_keys(path: Path, *, private: bool) -> list[OKPKey]:
    """All of a file, the newest last. Raises ``BadKeys``."""
    try:
        parts = [part for part in path.read_text().split(_END) if "BEGIN" in part]
        found = [OKPKey.import_key(f"{_from_begin(part)}{_end_of(part)}\n") for part in parts]
    except OSError as error:
        raise BadKeys(f"the key file {path} cannot be read ({error.strerror}): {_MAKE}") from error
    except (JoseError, ValueError) as error:
        raise BadKeys(f"{path} holds something else than keys in PEM ({error}): {_MAKE}") from error
    if not found:
        raise BadKeys(f"{path} holds no key in PEM: {_MAKE}")
    if any(key.curve_name != _CURVE or (private and not key.is_private) for key in found):
        kind = "private" if private else "public"
        raise BadKeys(f"{path} holds something else than {kind} {_CURVE} keys: {_MAKE}")
    return found


def _from_begin(part: str) -> str:
    return part[part.index("-----BEGIN") :]


def _end_of(part: str) -> str:
    """The line that ends a part which begins like this one."""
    kind = _from_begin(part).removeprefix("-----BEGIN").partition("-----")[0]
    return f"{_END}{kind}-----"


class ServiceKeys:
    """As ``service`` sees them. A public file holds several where keys are being changed."""

    def __init__(self, folder: Path, service: str) -> None:
        """Raises ``BadKeys``."""
        self.service = CallingService(service)
        self._own = _KeyFile(key_files(folder, service)[0], private=True)
        self._public = {name: _KeyFile(key_files(folder, name)[1]) for name in CallingService}
        self._own.require()
        for file in self._public.values():
            if file.path.exists():
                file.require()
        self._require_sound(folder)

    def own(self) -> OKPKey:
        """The private one that signs."""
        return self._own.current()[-1]

    def known(self) -> Mapping[str, tuple[CallingService, OKPKey]]:
        """Public ones by their thumbprints (RFC 7638). A service without a file is not known."""
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
                    raise BadKeys(
                        f"one key stands in {short_name(other)}.pub and {short_name(service)}.pub"
                        f" of {folder}: each service has a key of its own"
                    )
        if not prints:
            raise BadKeys(f"there is no public key (NAME.pub) in {folder}: {_MAKE}")
        if self._public[self.service].path.exists() and (
            prints.get(self.own().thumbprint()) is not self.service
        ):
            private, public = (file.name for file in key_files(folder, self.service))
            raise BadKeys(
                f"{private} does not go with {public} in {folder}: `sluice setup service-keys"
                f" {folder}` adds what is missing; give all services that {public}"
            )


class _KeyFile:
    def __init__(self, path: Path, *, private: bool = False) -> None:
        self.path = path
        self._private = private
        #: As it was when it was last looked into.
        self._stamp: tuple[int, int, int] | None = None
        self._keys: list[OKPKey] = []

    def require(self) -> None:
        """Raises ``BadKeys``."""
        self._stamp = self._stamp_now()
        self._keys = read_keys(self.path, private=self._private)

    def current(self) -> list[OKPKey]:
        """Those of before where the file cannot be read any more, or only in part."""
        if self._stamp_now() not in {None, self._stamp}:
            try:
                self.require()
            except BadKeys as error:
                log.warning("keys.unreadable", file=str(self.path), reason=str(error))
        return self._keys

    def _stamp_now(self) -> tuple[int, int, int] | None:
        """None: it is not there."""
        try:
            state = self.path.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size
