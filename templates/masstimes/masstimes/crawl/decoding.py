"""The text of a page, also with a wrong declared encoding."""

import codecs
import re

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
#: The number of bytes that are searched for the encoding.
_HEAD = 4096
#: Defaults of servers, which are wrong for Polish pages.
_WESTERN = frozenset({"ascii", "iso8859-1", "cp1252", "iso8859-15"})
#: ``ĄŚŹąśź`` in one of the encodings, which are controls or other signs in the other one.
_ONLY_1250 = frozenset(b"\xa5\x8c\x8f\xb9\x9c\x9f")
_ONLY_LATIN_2 = frozenset(b"\xa1\xa6\xac\xb1\xb6\xbc")
#: Nearly valid UTF-8 has at least as many right non-ASCII characters for each error.
_MIN_VALID_PER_INVALID = 10


def decode_page(body: bytes, content_type: str = "") -> str:
    """Return the text of a body. This function never raises.

    A byte order mark decides first, then valid or nearly valid UTF-8, then the declaration of a
    less usual encoding. Otherwise letters decide between the two usual encodings of Polish pages.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        pass
    if _is_nearly_utf8(body):
        return body.decode(errors="replace")
    for encoding in _find_declared_encodings(body, content_type):
        if encoding in _WESTERN or encoding.startswith(("utf", "iso8859-2", "cp1250")):
            continue
        try:
            return body.decode(encoding)
        except (UnicodeError, LookupError):  # "undefined" is an encoding too
            continue
    return _decode_polish(body, _find_declared_encodings(body, content_type))


def _find_declared_encodings(body: bytes, content_type: str) -> list[str]:
    """Return the declared encodings by Python's names: the page's, then the header's."""
    names = []
    if meta := _META.search(body[:_HEAD]):
        names.append(meta[1].decode("ascii"))
    if header := _HEADER.search(content_type):
        names.append(header[1])
    encodings = []
    for name in names:
        try:
            info = codecs.lookup(name)
        except LookupError:
            continue
        if info._is_text_encoding:
            encodings.append(info.name)
    return encodings


def _decode_polish(body: bytes, declared_encodings: list[str]) -> str:
    """Return the text in one of the two encodings of Polish pages."""
    count_1250 = sum(byte in _ONLY_1250 for byte in body)
    count_latin_2 = sum(byte in _ONLY_LATIN_2 for byte in body)
    if count_1250 == count_latin_2:
        encoding = next(
            (name for name in declared_encodings if name in {"cp1250", "iso8859-2"}), "cp1250"
        )
    else:
        encoding = "cp1250" if count_1250 > count_latin_2 else "iso8859-2"
    return body.decode(encoding, "replace")


def _is_nearly_utf8(body: bytes) -> bool:
    """Return whether a body is UTF-8 with a few wrong bytes."""
    text = body.decode(errors="replace")
    invalid = text.count("\ufffd")
    valid = sum(char > "\x7f" for char in text) - invalid
    return valid >= invalid * _MIN_VALID_PER_INVALID
