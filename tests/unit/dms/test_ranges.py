"""Ranges of bytes as RFC 9110 has them."""

import pytest

from dms.domain.ranges import NotSatisfiable, Span, names_tag, span_of


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
        # Not understood, or several: all of it.
        ("bytes=5-3", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("lines=0-3", None),
        ("bytes=0-1,4-5", None),
        ("bytes=٣-٥", None),
        ("bytes=0-" + "9" * 5000, None),
    ],
)
def test_one_range_or_all(header: str | None, expected: Span | None) -> None:
    assert span_of(header, size=10) == expected


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=10-12", 10), ("bytes=-0", 10), ("bytes=0-", 0)]
)
def test_a_range_behind_the_end_cannot_be_had(header: str, size: int) -> None:
    with pytest.raises(NotSatisfiable):
        span_of(header, size=size)


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
def test_which_tags_a_request_names(header: str | None, *, expected: bool) -> None:
    assert names_tag(header, '"a"') is expected
