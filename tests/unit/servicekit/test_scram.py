"""Tests of password verifiers in the format of PostgreSQL."""

import base64

from sluice.setup.scram import matches_password, scram_verifier

#: The password, salt and iterations are the example of RFC 7677. The formula of PostgreSQL gave the
#: stored key and the server key.
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
EXAMPLE = (
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ=="
    "$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
)


def test_verifier_matches_the_example_of_the_standard() -> None:
    assert scram_verifier("pencil", salt=SALT) == EXAMPLE
    assert matches_password("pencil", EXAMPLE)
    assert not matches_password("Pencil", EXAMPLE)


def test_each_verifier_has_its_own_salt() -> None:
    first, second = scram_verifier("x"), scram_verifier("x")
    assert first != second
    assert matches_password("x", first)
    assert matches_password("x", second)


def test_missing_and_md5_verifiers_match_no_password() -> None:
    assert not matches_password("x", None)
    assert not matches_password("x", "md5d41d8cd98f00b204e9800998ecf8427e")
