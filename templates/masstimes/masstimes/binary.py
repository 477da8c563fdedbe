"""Detection of binary bodies, whatever their header says."""

import codecs

#: The number of bytes of a body that are checked.
LOOKED_AT = 1024
#: The largest shares of control codes and high codes in a text, as parts of ``LOOKED_AT``.
MAX_CONTROL, MAX_HIGH = 0.3, 0.7

#: All control codes but backspace, tab, line feed, form feed and carriage return.
_CONTROL = frozenset({*range(8), 11, *range(14, 33), *range(127, 160)})
_HIGH = frozenset(range(160, 256))
_WITH_MARK = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def is_binary(body: bytes) -> bool:
    """Return whether a body is binary, by its first ``LOOKED_AT`` bytes.

    This is algorithm 4 of the source. Empty bodies and valid Unicode are text. Bodies with a NUL,
    too many control codes or too many codes from 160 on are binary. The shares are of
    ``LOOKED_AT``, also for shorter bodies.
    """
    first = body[:LOOKED_AT]
    if not first or _is_unicode(first):
        return False
    if 0 in first:
        return True
    control = sum(code in _CONTROL for code in first) / LOOKED_AT
    high = sum(code in _HIGH for code in first) / LOOKED_AT
    return control > MAX_CONTROL or high > MAX_HIGH


def _is_unicode(first: bytes) -> bool:
    """Return whether the bytes are UTF-8, or another encoding with its byte order mark.

    A character that is cut off at the end is valid.
    """
    encoding = next((name for mark, name in _WITH_MARK if first.startswith(mark)), "utf-8")
    if encoding == "utf-8" and 0 in first:  # valid UTF-8, but in no text
        return False
    try:
        codecs.getincrementaldecoder(encoding)().decode(first, final=False)
    except UnicodeDecodeError:
        return False
    return True
