"""Verifiers of passwords as PostgreSQL makes them."""

import base64

from sluice.setup.scram import is_password_of, scram_verifier

#: The example of RFC 7677: password, salt, iterations; stored and server key were computed from it
#: by PostgreSQL's own formula.
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
EXAMPLE = (
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ=="
    "$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
)


def test_verifier_of_the_standards_example() -> None:
    assert scram_verifier("pencil", salt=SALT) == EXAMPLE
    assert is_password_of("pencil", EXAMPLE)
    assert not is_password_of("Pencil", EXAMPLE)


def test_every_verifier_has_a_salt_of_its_own() -> None:
    first, second = scram_verifier("x"), scram_verifier("x")
    assert first != second
    assert is_password_of("x", first)
    assert is_password_of("x", second)


def test_other_methods_are_no_match() -> None:
    assert not is_password_of("x", None)
    assert not is_password_of("x", "md5d41d8cd98f00b204e9800998ecf8427e")
