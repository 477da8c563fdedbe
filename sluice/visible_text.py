"""Text of others, as something to look at, never as something that a terminal obeys."""

import json
from pathlib import Path

#: Characters of a value that a message shows.
MOST_SHOWN = 200
#: What shows the text behind it in another order than it has (Unicode, UAX 9): embeddings,
#: overrides, isolates.
REORDERING = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
#: These, and marks that turn the direction of what is beside them.
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *sorted(map(ord, REORDERING))]
#: C0, DEL and C1 (ECMA-48), what ends a line or paragraph, and what turns the direction of text.
_OBEYED = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_DIRECTIONS]
#: Control pictures where Unicode has them, else the number.
_SHOWN = {
    code: chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"<U+{code:04X}>"
    for code in _OBEYED
}
_SHOWN_IN_LINES = {code: shown for code, shown in _SHOWN.items() if chr(code) not in "\n\t"}
_SHOWN_DIRECTIONS = {code: _SHOWN[code] for code in _DIRECTIONS}


def visible_order(text: str) -> str:
    """Return the text with numbers for what turns its direction, for a page, which obeys nothing
    else."""
    return text if text.isascii() else text.translate(_SHOWN_DIRECTIONS)


def visible(text: str) -> str:
    """The text with control pictures, or numbers, for all that a terminal would obey; lines and
    tabs stay."""
    return text.translate(_SHOWN_IN_LINES)


def visible_line(text: str) -> str:
    """As ``visible``, of a text that is a line: its ends of lines and tabs are shown as well."""
    return text.translate(_SHOWN)


def shown_path(path: Path) -> str:
    r"""Return a path as it is shown: escaped where something in it would not be seen.

    Bytes that are not UTF-8 become ``\xe9``, a line break becomes ``\n``.
    """
    return escaped(str(path))


def escaped(text: str) -> str:
    r"""Return the text with ``\n``, ``\x1b``, ``\u202e`` for characters that would not be seen."""
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def quoted(value: object) -> str:
    """Return a value as messages show it: text and bytes in quotes, anything else as JSON.

    Characters that would not be seen are escaped, and a long value is cut.
    """
    if isinstance(value, bytes):
        value = value[: MOST_SHOWN + 1].decode(errors="surrogateescape")
    if isinstance(value, str):
        return f"'{_beginning(value)}'"
    return _beginning(json.dumps(value, ensure_ascii=False, default=str))


def _beginning(text: str) -> str:
    return escaped(text) if len(text) <= MOST_SHOWN else f"{escaped(text[:MOST_SHOWN])}…"


def _escaped_character(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8, as Python keeps it in names
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
