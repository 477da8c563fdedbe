"""Logs on the page: whole, or with a line that counts the bytes left out."""

import re

from hypothesis import given
from hypothesis import strategies as st

from wfms.operator.chains.domain.logs import log_text


def test_short_log_is_shown_whole() -> None:
    assert log_text(b"a\nb", b"", 3) == "a\nb"
    assert log_text(b"a\nb\n", b"c\n", 6) == "a\nb\nc\n"
    assert log_text(b"", b"", 0) == ""


def test_long_log_is_cut_between_lines() -> None:
    assert (
        log_text(b"one\ntwo\nthr", b"en\neleven\n", 100)
        == "one\ntwo\n… 85 bytes left out …\neleven\n"
    )


def test_log_without_lines_is_cut_anywhere() -> None:
    assert log_text(b"aaa", b"bbb", 1_000_006) == "aaa\n… 1\u202f000\u202f000 bytes left out …\nbbb"


def test_invalid_utf8_in_a_log_is_replaced() -> None:
    assert log_text(b"\xffa\n", b"", 3) == "\ufffda\n"
    assert (
        log_text("über\nä".encode()[:-1], "ß\nend\n".encode()[1:], 50)
        == "über\n… 40 bytes left out …\nend\n"
    )


@given(
    st.lists(st.text("ab", max_size=9), max_size=60).map(lambda lines: "\n".join(lines).encode()),
    st.integers(1, 40),
)
def test_shown_and_omitted_bytes_add_up_to_the_log(whole: bytes, half: int) -> None:
    head = whole[:half]
    tail = b"" if len(whole) <= half else whole[max(half, len(whole) - half) :]
    text = log_text(head, tail, len(whole))
    gap = re.search(r"\n?… ([0-9]+) bytes? left out …\n", text)
    if gap is None:
        assert text.encode() == whole
    else:
        begin, end = text[: gap.start()].encode(), text[gap.end() :].encode()
        assert whole.startswith(begin)
        assert whole.endswith(end)
        assert len(whole) - len(begin) - len(end) - int(gap[1]) in {0, 1}, (
            "only a line break may be missing"
        )
