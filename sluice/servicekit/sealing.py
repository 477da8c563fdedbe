"""Encryption of secrets, at rest and between two services.

The cipher is Fernet (AES-128 in CBC mode, HMAC-SHA256). Each encrypted text contains its purpose,
so that one cannot be used in place of another.
"""

import json
import re

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr, field_validator

from sluice.contracts.common.problems import Conflict
from sluice.servicekit.settings import ServiceSettings

#: The purposes of the WMS's requests for secrets and of their responses, and the seconds for which
#: either can be decrypted.
REQUEST, ANSWER = "the WMS's request for secrets", "the answer to the WMS's request for secrets"
IN_TIME = 60

_HOW_TO_MAKE_ONE = (
    "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
)


class EncryptionKeyMissing(Conflict):
    """The service has no key to encrypt with."""

    def __init__(self) -> None:
        super().__init__(
            "there is no key to encrypt secrets with: set SLUICE_ENCRYPTION_KEYS for the operator"
            f" service and the WMS, and start them again ({_HOW_TO_MAKE_ONE} makes a key)"
        )


class DecryptionFailed(Conflict):
    """A text cannot be decrypted: it has another key or purpose, is too old, or was changed.

    ``what`` is the subject of the error message.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} cannot be decrypted with the keys of SLUICE_ENCRYPTION_KEYS: it was encrypted"
            " with a key that is no longer among them, or it was changed since"
        )


class Sealer:
    """Encryption with the keys of the settings. The first key encrypts, all keys decrypt."""

    def __init__(self, keys: SecretStr | None) -> None:
        ciphers = [] if keys is None else [Fernet(key) for key in _split_keys(keys)]
        self._box = MultiFernet(ciphers) if ciphers else None
        self._first = ciphers[:1]

    def seal(self, text: str, *, what: str) -> bytes:
        """Encrypt a text for the purpose ``what``.

        Raises:
            EncryptionKeyMissing: There is no key.
        """
        return self._required.encrypt(json.dumps([what, text]).encode())

    def open(self, sealed_text: bytes, *, what: str, seconds: int | None = None) -> str:
        """Decrypt a text.

        Args:
            sealed_text: The encrypted text.
            what: Its purpose.
            seconds: Its maximum age.

        Raises:
            EncryptionKeyMissing: There is no key.
            DecryptionFailed: The text has another key or purpose, is too old, or was changed.
        """
        try:
            own_purpose, text = json.loads(self._required.decrypt(sealed_text, ttl=seconds))
        except InvalidToken:
            raise DecryptionFailed(what) from None
        if own_purpose != what:
            raise DecryptionFailed(what)
        return str(text)

    def is_current(self, sealed_text: bytes) -> bool:
        """Return whether the text is encrypted with the first key."""
        try:
            for first in self._first:
                first.decrypt(sealed_text)
                return True
        except InvalidToken:
            pass
        return False

    @property
    def _required(self) -> MultiFernet:
        if self._box is None:
            raise EncryptionKeyMissing
        return self._box


class SealingSettings(ServiceSettings):
    """Settings of a service that encrypts."""

    SHARED = ServiceSettings.SHARED | {"encryption_keys"}

    #: Keys that encrypt the secrets of tools, separated by commas or blanks. The first key
    #: encrypts, all of them decrypt. The operator service and the WMS need the same keys. Without a
    #: key, no secret can be stored.
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


def _split_keys(keys: SecretStr) -> list[str]:
    return [key for key in re.split(r"[\s,]+", keys.get_secret_value()) if key]
