"""Tests that sealed values can be opened only with one of the keys and only for their purpose."""

import time

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr, ValidationError

from sluice.servicekit.sealing import (
    DecryptionFailed,
    EncryptionKeyMissing,
    Sealer,
    SealingSettings,
)

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


def make_sealer(*keys: str) -> Sealer:
    return Sealer(SecretStr(" ,\n".join(keys)))


def test_first_key_seals_and_all_keys_open() -> None:
    before, both, after = make_sealer(OLD), make_sealer(NEW, OLD), make_sealer(NEW)
    old, new = before.seal("text", what="a"), both.seal("text", what="a")
    assert both.open(old, what="a") == both.open(new, what="a") == after.open(new, what="a")
    assert (both.is_current(old), both.is_current(new)) == (False, True)
    for box, sealed in ((after, old), (before, new)):
        with pytest.raises(DecryptionFailed, match="SLUICE_ENCRYPTION_KEYS"):
            box.open(sealed, what="a")


def test_sealed_value_does_not_contain_the_text() -> None:
    assert b"hunter2" not in make_sealer(OLD).seal("hunter2", what="a")


def test_value_sealed_for_another_purpose_is_not_opened() -> None:
    box = make_sealer(OLD)
    with pytest.raises(DecryptionFailed, match=r"^version 2 of secret 'a' cannot be decrypted"):
        box.open(box.seal("text", what="version 1 of secret 'a'"), what="version 2 of secret 'a'")


def test_changed_value_is_not_opened() -> None:
    box = make_sealer(OLD)
    sealed = bytearray(box.seal("text", what="a"))
    sealed[-5] ^= 1
    with pytest.raises(DecryptionFailed):
        box.open(bytes(sealed), what="a")


def test_value_that_is_too_old_is_not_opened() -> None:
    box = make_sealer(OLD)
    old = Fernet(OLD).encrypt_at_time(b'["a", "text"]', int(time.time()) - 100)
    assert box.open(old, what="a") == "text"
    with pytest.raises(DecryptionFailed):
        box.open(old, what="a", seconds=60)


def test_sealing_without_a_key_raises_an_error() -> None:
    with pytest.raises(EncryptionKeyMissing, match="set SLUICE_ENCRYPTION_KEYS"):
        Sealer(None).seal("text", what="a")
    assert not Sealer(None).is_current(make_sealer(OLD).seal("text", what="a"))


def test_invalid_key_is_refused_and_not_shown() -> None:
    short_key = "tooshort"
    with pytest.raises(ValidationError, match="44 characters") as refused:
        SealingSettings(
            database_url="postgresql://x", broker_url="x", encryption_keys=SecretStr(short_key)
        )
    assert short_key not in str(refused.value)
