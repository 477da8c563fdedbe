"""Tests that the values of secrets are replaced in the output of tools, also where only a part is
read."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilot.runner.programs.exit_messages import last_line
from pilot.runner.redaction import NO_REDACTION, Redaction

VALUE = "hunter2"
HIDE = Redaction({VALUE: "(secret a)", "hunter2-long": "(secret b)", "ends\n": "(secret c)"})


@pytest.fixture
def output_descriptor(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path / "said", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def test_secret_values_are_replaced_and_the_longest_value_comes_first() -> None:
    assert HIDE.redact(b"x hunter2 hunter2-long ends y\n") == (
        b"x (secret a) (secret b) (secret c) y\n"
    )
    assert HIDE.redact_text("grün hunter2 \udc80") == "grün (secret a) \udc80"
    assert NO_REDACTION.redact(b"hunter2") == b"hunter2"


@given(before=st.integers(0, 30), start=st.integers(0, 40), size=st.integers(0, 40))
def test_partial_reads_show_no_part_of_a_secret(before: int, start: int, size: int) -> None:
    text = b"." * before + VALUE.encode() + b"." * 30
    descriptor = os.memfd_create("said")
    try:
        os.write(descriptor, text)
        end = min(start + size, len(text))
        read = HIDE.read(descriptor, min(start, end), end)
        assert set(read.replace(b"(secret a)", b"")) <= set(b".")
        shown = HIDE.read_in_place(descriptor, min(start, end), end)
        assert set(shown) <= set(b".*")
        assert len(shown) <= max(0, end - start), "the text after the secret keeps its position"
    finally:
        os.close(descriptor)


def test_possible_beginning_of_a_secret_is_withheld_while_the_tool_runs(
    output_descriptor: int,
) -> None:
    os.write(output_descriptor, b"the key is hunt")
    assert HIDE.read_in_place(output_descriptor, 0, 15) == b"the key is "
    os.write(output_descriptor, b"er2, and")
    assert HIDE.read_in_place(output_descriptor, 0, 23) == b"the key is *******, and"
    assert HIDE.read_in_place(output_descriptor, 11, 23) == b"*******, and"


def test_last_line_shows_no_part_of_a_secret(output_descriptor: int) -> None:
    os.write(output_descriptor, b"." * 295 + VALUE.encode())
    assert last_line(output_descriptor, redaction=HIDE) == "." * 295 + "(secr"
    os.write(output_descriptor, b"\n" + VALUE.encode() + b"." * (4096 - 3))
    assert VALUE[-3:] not in last_line(output_descriptor, redaction=HIDE)
