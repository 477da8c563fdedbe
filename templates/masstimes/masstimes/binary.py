"""Whether a body is binary, whatever its header says."""

from __future__ import annotations

import codecs

#: Bytes of a body that are looked at.
LOOKED_AT = 1024
#: More of these, as parts of ``LOOKED_AT``, make a body binary.
MOST_CONTROL, MOST_HIGH = 0.3, 0.7

#: All but backspace, tab, line feed, form feed and carriage return, which texts have.
_CONTROL = frozenset({*range(8), 11, *range(14, 33), *range(127, 160)})
_HIGH = frozenset(range(160, 256))
_WITH_MARK = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def is_binary(body: bytes) -> bool:
    """Algorithm 4 of the source, on the first ``LOOKED_AT`` bytes: empty, or valid Unicode, is
    text; with a NUL it is binary, or with too many control codes or codes from 160 on. The parts
    are of ``LOOKED_AT``, also where there are fewer bytes.
    """
    first = body[:LOOKED_AT]
    if not first or _is_unicode(first):
        return False
    if 0 in first:
        return True
    control = sum(code in _CONTROL for code in first) / LOOKED_AT
    high = sum(code in _HIGH for code in first) / LOOKED_AT
    return control > MOST_CONTROL or high > MOST_HIGH


def _is_unicode(first: bytes) -> bool:
    """In UTF-8, or in another form with its mark; a character that is cut off at the end is one."""
    encoding = next((name for mark, name in _WITH_MARK if first.startswith(mark)), "utf-8")
    if encoding == "utf-8" and 0 in first:  # valid, and in no text
        return False
    try:
        codecs.getincrementaldecoder(encoding)().decode(first, final=False)
    except UnicodeDecodeError:
        return False
    return True
