"""Text of others, as something to look at, never as something that a terminal obeys."""

#: C0, DEL and C1 (ECMA-48), what ends a line or paragraph, and what turns the direction of text
#: (Unicode, UAX 9).
_OBEYED = [
    *range(0x20),
    *range(0x7F, 0xA0),
    *(0x061C, 0x200E, 0x200F, 0x2028, 0x2029),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]
#: Control pictures where Unicode has them, else the number.
_SHOWN = {
    code: chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"<U+{code:04X}>"
    for code in _OBEYED
}
_SHOWN_IN_LINES = {code: shown for code, shown in _SHOWN.items() if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """The text with control pictures, or numbers, for all that a terminal would obey; lines and
    tabs stay."""
    return text.translate(_SHOWN_IN_LINES)


def visible_line(text: str) -> str:
    """As ``visible``, of a text that is a line: its ends of lines and tabs are shown as well."""
    return text.translate(_SHOWN)
