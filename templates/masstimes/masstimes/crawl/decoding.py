"""The text of a page, also with a wrong declared encoding."""

from __future__ import annotations

import codecs
import re

_MARKS = (
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
_OF_1250 = frozenset(b"\xa5\x8c\x8f\xb9\x9c\x9f")
_OF_LATIN_2 = frozenset(b"\xa1\xa6\xac\xb1\xb6\xbc")
#: Nearly valid UTF-8 has at least as many right non-ASCII characters for each error.
_RIGHT_FOR_ONE_WRONG = 10


def decoded(body: bytes, content_type: str = "") -> str:
    """Return the text of a body. This function never raises.

    A byte order mark decides first, then valid or nearly valid UTF-8, then the declaration of a
    less usual encoding. Otherwise letters decide between the two usual encodings of Polish pages.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        pass
    if _nearly_utf8(body):
        return body.decode(errors="replace")
    for encoding in _said(body, content_type):
        if encoding in _WESTERN or encoding.startswith(("utf", "iso8859-2", "cp1250")):
            continue
        try:
            return body.decode(encoding)
        except (UnicodeError, LookupError):  # "undefined" is an encoding too
            continue
    return _polish(body, _said(body, content_type))


def _said(body: bytes, content_type: str) -> list[str]:
    """Return the declared encodings by Python's names: the page's, then the header's."""
    found = []
    if inside := _META.search(body[:_HEAD]):
        found.append(inside[1].decode("ascii"))
    if header := _HEADER.search(content_type):
        found.append(header[1])
    known = []
    for name in found:
        try:
            info = codecs.lookup(name)
        except LookupError:
            continue
        if info._is_text_encoding:
            known.append(info.name)
    return known


def _polish(body: bytes, said: list[str]) -> str:
    """Return the text in one of the two encodings of Polish pages."""
    first = sum(byte in _OF_1250 for byte in body)
    second = sum(byte in _OF_LATIN_2 for byte in body)
    if first == second:
        encoding = next((name for name in said if name in {"cp1250", "iso8859-2"}), "cp1250")
    else:
        encoding = "cp1250" if first > second else "iso8859-2"
    return body.decode(encoding, "replace")


def _nearly_utf8(body: bytes) -> bool:
    """Return whether a body is UTF-8 with a few wrong bytes."""
    text = body.decode(errors="replace")
    wrong = text.count("\ufffd")
    right = sum(char > "\x7f" for char in text) - wrong
    return right >= wrong * _RIGHT_FOR_ONE_WRONG
