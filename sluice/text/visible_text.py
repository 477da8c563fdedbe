"""Display of foreign text without effects on a terminal."""

import json
from pathlib import Path

#: The most characters of a value that a message shows.
MAX_VALUE_LENGTH = 200
#: Characters that display the text after them in another order (Unicode, UAX 9): embeddings,
#: overrides, isolates.
REORDERING = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
#: These characters, and marks that change the direction of neighbouring text.
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *sorted(map(ord, REORDERING))]
#: C0, DEL and C1 (ECMA-48), ends of lines and paragraphs, and changes of direction.
_CONTROL_CODES = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_DIRECTIONS]
#: Control pictures if Unicode has them, and else the number.
_REPLACEMENTS = {
    code: chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"<U+{code:04X}>"
    for code in _CONTROL_CODES
}
_REPLACEMENTS_IN_LINES = {
    code: replacement for code, replacement in _REPLACEMENTS.items() if chr(code) not in "\n\t"
}
_DIRECTION_REPLACEMENTS = {code: _REPLACEMENTS[code] for code in _DIRECTIONS}


def visible_order(text: str) -> str:
    """Return the text with numbers for characters that change its direction.

    It is for web pages, which obey no other control characters.
    """
    return text if text.isascii() else text.translate(_DIRECTION_REPLACEMENTS)


def visible(text: str) -> str:
    """Return the text with pictures or numbers for all that a terminal would obey.

    Line ends and tabs stay.
    """
    return text.translate(_REPLACEMENTS_IN_LINES)


def visible_line(text: str) -> str:
    """Return a line like ``visible``, with pictures for line ends and tabs, too."""
    return text.translate(_REPLACEMENTS)


def shown_path(path: Path) -> str:
    r"""Return a path for display: escaped if a character in it would be invisible.

    Bytes that are not UTF-8 become ``\xe9``, a line break becomes ``\n``.
    """
    return escaped(str(path))


def escaped(text: str) -> str:
    r"""Return the text with ``\n``, ``\x1b``, ``\u202e`` for invisible characters."""
    return text if text.isprintable() else "".join(map(_escape_character, text))


def quoted(value: object) -> str:
    """Return a value as messages show it: text and bytes in quotes, anything else as JSON.

    Invisible characters are escaped, and a long value is cut.
    """
    if isinstance(value, bytes):
        value = value[: MAX_VALUE_LENGTH + 1].decode(errors="surrogateescape")
    if isinstance(value, str):
        return f"'{shortened(value)}'"
    return shortened(json.dumps(value, ensure_ascii=False, default=str))


def shortened(text: str) -> str:
    """Return the beginning of a text, with invisible characters escaped."""
    return (
        escaped(text) if len(text) <= MAX_VALUE_LENGTH else f"{escaped(text[:MAX_VALUE_LENGTH])}…"
    )


def _escape_character(character: str) -> str:
    if character.isprintable():
        return character
    # A byte that is not UTF-8, as Python represents it in names.
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
