"""Detection of binary bodies by control codes."""

import codecs

import pytest
from masstimes.binary import LOOKED_AT, is_binary

CONTROL, HIGH, PLAIN = b"\x01", b"\xe9", b"a"
#: A byte that is invalid in UTF-8.
BROKEN = b"\xff"


@pytest.mark.parametrize(
    ("body", "binary"),
    [
        (b"", False),
        (b"<html>Msze", False),
        ("Msze święte".encode(), False),
        ("Msze święte".encode("iso-8859-2"), False),
        ("Msze święte".encode("cp1250"), False),
        (codecs.BOM_UTF16_LE + "Msze".encode("utf-16-le"), False),
        (codecs.BOM_UTF32_BE + "Msze".encode("utf-32-be"), False),
        (b"Msze\0", True),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", True),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", True),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", False),  # few control codes; the header tells the type
    ],
)
def test_text_and_binary_bodies_are_distinguished(body: bytes, *, binary: bool) -> None:
    assert is_binary(body) is binary


def test_body_that_ends_within_a_character_is_text() -> None:
    body = ("a" + "ż" * LOOKED_AT).encode()
    with pytest.raises(UnicodeDecodeError):
        body[:LOOKED_AT].decode()
    assert not is_binary(body)


@pytest.mark.parametrize(
    ("code", "most"), [(CONTROL, 0.3), (HIGH, 0.7)], ids=["control codes", "high codes"]
)
def test_limits_of_control_codes_are_shares_of_1024_bytes(code: bytes, most: float) -> None:
    allowed = int(most * LOOKED_AT)
    fits = code * allowed + BROKEN
    if code == HIGH:
        fits = code * (allowed - 1) + BROKEN  # the broken byte is a high code, too
    assert not is_binary(fits)
    assert is_binary(code + fits)
    assert not is_binary(PLAIN * LOOKED_AT + code * LOOKED_AT + BROKEN), (
        "only the first bytes are examined"
    )


def test_control_codes_are_those_of_the_source() -> None:
    counted = {code for code in range(1, 256) if is_binary(bytes([code]) * 400 + BROKEN)}
    assert counted == {*range(1, 8), 11, *range(14, 33), *range(127, 160)}
