"""Nothing that others wrote ends a line, moves a cursor or turns text around."""

import unicodedata

import pytest

from sluice.visible_text import MOST_SHOWN, quoted, visible, visible_line, visible_order

_CONTROLS = "".join(
    char for char in map(chr, range(0x3000)) if unicodedata.category(char) in ("Cc", "Zl", "Zp")
)
_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_no_control_stays_in_a_line() -> None:
    shown = visible_line(f"a{_CONTROLS}{_TURNING}b")
    assert shown.isprintable()
    assert (shown[:3], shown[-9:]) == ("a\u2400\u2401", "<U+2069>b")


def test_lines_and_tabs_stay_in_a_text() -> None:
    assert visible("a\tb\r\nc") == "a\tb\u240d\nc"
    assert visible("ä 日本 \u2264") == "ä 日本 \u2264"


def test_pages_show_what_turns_the_direction_of_text_and_keep_all_else() -> None:
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
        ("x" * 5000, f"'{'x' * MOST_SHOWN}…'"),
        ([1] * 5000, "[" + "1, " * 66 + "1…"),
    ],
)
def test_values_in_messages_are_escaped_and_cut(value: object, shown: str) -> None:
    assert quoted(value) == shown
