"""Encrypts what only services with the key may read: at rest, and between two of them.

Fernet (AES-128 in CBC mode, HMAC-SHA256). Every sealed text says in itself what it is, so that
nobody can put one at the place of another.
"""

import json
import re

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr, field_validator

from sluice.contracts.problems import Conflict
from sluice.servicekit.settings import ServiceSettings

#: What the WMS asks about secrets, and what it is answered; seconds for which either can be opened.
REQUEST, ANSWER = "what the WMS asks about secrets", "what the WMS is answered about secrets"
IN_TIME = 60

_HOW_TO_MAKE_ONE = (
    "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
)


class NoKey(Conflict):
    """The service was given no key to encrypt with."""

    def __init__(self) -> None:
        super().__init__(
            "there is no key to encrypt secrets with: set SLUICE_ENCRYPTION_KEYS for the operator"
            f" service and the WMS, and start them again ({_HOW_TO_MAKE_ONE} makes a key)"
        )


class Unsealable(Conflict):
    """It was sealed with another key, as something else, too long ago, or was changed. ``what``:
    the subject of the sentence.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} cannot be decrypted with the keys of SLUICE_ENCRYPTION_KEYS: it was encrypted"
            " with a key that is not among them any more, or it was changed since"
        )


class Sealer:
    """``keys``: as in the settings; the first one encrypts, all of them decrypt."""

    def __init__(self, keys: SecretStr | None) -> None:
        found = [] if keys is None else [Fernet(key) for key in _listed(keys)]
        self._box = MultiFernet(found) if found else None
        self._first = found[:1]

    def seal(self, text: str, *, what: str) -> bytes:
        """``what``: it is, which ``open`` has to know. Raises ``NoKey``."""
        return self._required.encrypt(json.dumps([what, text]).encode())

    def open(self, sealed: bytes, *, what: str, seconds: int | None = None) -> str:
        """``seconds``: since when it may be sealed at the earliest. Raises ``NoKey``,
        ``Unsealable``.
        """
        try:
            found, text = json.loads(self._required.decrypt(sealed, ttl=seconds))
        except InvalidToken:
            raise Unsealable(what) from None
        if found != what:
            raise Unsealable(what)
        return str(text)

    def is_current(self, sealed: bytes) -> bool:
        """Is it sealed with the first key? Without any, nothing is."""
        try:
            for first in self._first:
                first.decrypt(sealed)
                return True
        except InvalidToken:
            pass
        return False

    @property
    def _required(self) -> MultiFernet:
        if self._box is None:
            raise NoKey
        return self._box


class SealingSettings(ServiceSettings):
    """Of a service that encrypts."""

    SHARED = ServiceSettings.SHARED | {"encryption_keys"}

    #: Keys that secrets of tools are encrypted with, separated by commas or blanks: the first one
    #: encrypts, all of them decrypt. The operator service and the WMS need the same; without any,
    #: no secret can be kept.
    encryption_keys: SecretStr | None = None

    @field_validator("encryption_keys")
    @classmethod
    def _are_keys(cls, keys: SecretStr | None) -> SecretStr | None:
        try:
            Sealer(keys)
        except ValueError:
            raise ValueError(
                f"each key is 32 bytes in URL-safe Base64 (44 characters), as of {_HOW_TO_MAKE_ONE}"
            ) from None
        return keys


def _listed(keys: SecretStr) -> list[str]:
    return [key for key in re.split(r"[\s,]+", keys.get_secret_value()) if key]
