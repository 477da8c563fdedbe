"""Byte ranges and entity tags of RFC 9110."""

import pytest

from dms.domain.ranges import RangeNotSatisfiable, Span, names_tag, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-0", Span(0, 1)),
        ("bytes=0-", Span(0, 10)),
        ("bytes=3-5", Span(3, 6)),
        ("bytes=3-999", Span(3, 10)),
        ("bytes=-4", Span(6, 10)),
        ("bytes=-99", Span(0, 10)),
        (" Bytes = 9 - 9 ", Span(9, 10)),
        # Invalid or multiple ranges select the whole file.
        ("bytes=5-3", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("lines=0-3", None),
        ("bytes=0-1,4-5", None),
        ("bytes=٣-٥", None),
        ("bytes=0-" + "9" * 5000, None),
    ],
)
def test_single_byte_range_is_served_and_others_select_the_whole_file(
    header: str | None, expected: Span | None
) -> None:
    assert parse_range(header, size=10) == expected


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=10-12", 10), ("bytes=-0", 10), ("bytes=0-", 0)]
)
def test_range_beyond_the_end_is_not_satisfiable(header: str, size: int) -> None:
    with pytest.raises(RangeNotSatisfiable):
        parse_range(header, size=size)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, False),
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ("*", True),
        ('"b"', False),
        ("a", False),
    ],
)
def test_entity_tag_of_a_request_is_matched(header: str | None, *, expected: bool) -> None:
    assert names_tag(header, '"a"') is expected
