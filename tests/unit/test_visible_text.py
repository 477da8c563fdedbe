"""Foreign text cannot end a line, move the cursor, or reverse text."""

import unicodedata

import pytest

from sluice.text.visible_text import MAX_VALUE_LENGTH, quoted, visible, visible_line, visible_order

_CONTROLS = "".join(
    char for char in map(chr, range(0x3000)) if unicodedata.category(char) in ("Cc", "Zl", "Zp")
)
_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_visible_line_has_no_control_characters() -> None:
    shown = visible_line(f"a{_CONTROLS}{_TURNING}b")
    assert shown.isprintable()
    assert (shown[:3], shown[-9:]) == ("a\u2400\u2401", "<U+2069>b")


def test_visible_text_keeps_line_breaks_and_tabs() -> None:
    assert visible("a\tb\r\nc") == "a\tb\u240d\nc"
    assert visible("ä 日本 \u2264") == "ä 日本 \u2264"


def test_pages_show_direction_controls_and_keep_other_characters() -> None:
    assert visible_order("rm \u202exyz\u202c\u200f\u061c\u2067") == (
        "rm <U+202E>xyz<U+202C><U+200F><U+061C><U+2067>"
    )
    assert visible_order("żółw\tשלום\n") == "żółw\tשלום\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("it's", "'it's'"),
        ("a\nb\x1b[31m\u202e", r"'a\nb\x1b[31m\u202e'"),
        ("caf\udce9 \ud800", r"'caf\xe9 \ud800'"),
        (b"P5\n\xff", r"'P5\n\xff'"),
        (None, "null"),
        (True, "true"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (["ż", {"a": 1.5}], '["ż", {"a": 1.5}]'),
        ("x" * 5000, f"'{'x' * MAX_VALUE_LENGTH}…'"),
        ([1] * 5000, "[" + "1, " * 66 + "1…"),
    ],
)
def test_values_in_messages_are_escaped_and_shortened(value: object, shown: str) -> None:
    assert quoted(value) == shown
