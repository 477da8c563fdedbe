"""What the command prints."""

import pytest

from sluice.cli.output import first_named, human_bytes, print_problem, print_table
from sluice.contracts.problems import Conflict, Finding, NeedsForce, NotFound, Unprocessable


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_500, "1.5 kB"),
        (20_000_000, "20.0 MB"),
        (3e9, "3.0 GB"),
        (5e12, "5.0 TB"),
        (7e15, "7000.0 TB"),
    ],
)
def test_bytes_have_a_decimal_unit(size: float, text: str) -> None:
    assert human_bytes(size) == text


def test_of_many_files_the_first_are_named() -> None:
    names = [f"{number}.txt" for number in range(1000)]
    assert first_named(names) == "0.txt, 1.txt and 998 more"
    assert first_named(names[:2]) == "0.txt, 1.txt"
    assert first_named([]) == ""


@pytest.mark.parametrize("text", ["[/tmp/x] is missing", "[bold]not bold", "no [red] here[/]"])
def test_brackets_are_printed_as_they_are(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["why"], [[text]], empty="")
    print_problem(NotFound(text))
    printed = capsys.readouterr()
    assert text in printed.out
    assert f"error: {text}" in printed.err


def test_what_is_done_when_forced_is_said_with_the_option_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refusal = NeedsForce("it may be the last copy", forced="deletes it for good")
    assert refusal.detail == "it may be the last copy; force=true deletes it for good", "by REST"
    print_problem(
        Conflict(refusal.detail, service="dms", **refusal.problem().fields)
    )  # as clients raise it
    printed = capsys.readouterr().err
    assert "error: it may be the last copy; --force deletes it for good" in printed
    assert "force=true" not in printed


def test_a_finding_is_printed_where_it_says_more_than_the_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = Finding(message="there is no secret 'key'")
    placed = Finding(message=said.message, file="wf.cwl", line=3, column=1)
    more = Finding(message="nor is there a file")
    print_problem(Unprocessable(f"no chain is made: {said.message}", findings=[said, placed, more]))
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "error: no chain is made: there is no secret 'key'",
        "  wf.cwl:3:1: error: there is no secret 'key'",
        "  error: nor is there a file",
    ]
