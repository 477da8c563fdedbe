"""Output of commands."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from sluice.clientkit import output
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import print_files, print_problem, print_table
from sluice.contracts.common.problems import (
    Conflict,
    Finding,
    ForceRequired,
    NotFound,
    Unprocessable,
)
from sluice.contracts.common.wording import in_parentheses


def test_only_the_first_of_many_files_are_named() -> None:
    names = [f"{number}.txt" for number in range(1000)]
    assert in_parentheses(names) == " (0.txt, 1.txt and 998 more)"
    assert in_parentheses(names[:2]) == " (0.txt, 1.txt)"
    assert in_parentheses([]) == ""


def test_file_with_control_characters_in_its_name_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "two\nlines\x1b[31m.txt"
    (tmp_path / name).write_text("12")
    assert print_files([tmp_path / name]) == 2
    assert capsys.readouterr().out == rf"{tmp_path}/two\nlines\x1b[31m.txt  2 B" + "\n"
    assert in_parentheses([name]) == r" (two\nlines\x1b[31m.txt)"


def test_lines_of_a_table_in_a_pipe_have_no_blanks_at_their_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(["name", "note"], [["a", "a long note"], ["b\x85c", None]], empty="")
    assert capsys.readouterr().out == "name  note\na     a long note\nb\x85c\n"


@pytest.mark.parametrize("text", ["[/tmp/x] is missing", "[bold]not bold", "no [red] here[/]"])
def test_brackets_are_printed_unchanged(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["why"], [[text]], empty="")
    print_problem(NotFound(text))
    printed = capsys.readouterr()
    assert text in printed.out
    assert f"error: {text}" in printed.err


def test_refusal_names_the_force_option_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refusal = ForceRequired("it may be the last copy", forced="deletes it permanently")
    assert refusal.detail == "it may be the last copy; force=true deletes it permanently", (
        "the REST interface has its own name for the option"
    )
    print_problem(
        Conflict(refusal.detail, service="dms", **refusal.problem().fields)
    )  # as clients raise the error
    printed = capsys.readouterr().err
    assert "error: it may be the last copy; --force deletes it permanently" in printed
    assert "force=true" not in printed


def test_finding_is_printed_if_it_adds_to_the_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain_finding = Finding(message="there is no secret 'key'")
    placed = Finding(message=plain_finding.message, file="wf.cwl", line=3, column=1)
    more = Finding(message="nor is there a file")
    old = Finding(message="it is old", severity="warning")
    print_problem(
        Unprocessable(
            f"no chain is made: {plain_finding.message}",
            findings=[plain_finding, placed, more, old],
        )
    )
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "error: no chain is made: there is no secret 'key'",
        "  wf.cwl:3:1: error: there is no secret 'key'",
        "  nor is there a file",
        "  warning: it is old",
    ]


def test_uid_is_never_broken_across_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a narrow terminal, other columns shrink."""
    monkeypatch.setattr(output.out, "_width", 50)
    uid = uuid4()
    print_table(["chain", "data set"], [[uid, "a long name of a data set"]], empty="")
    assert str(uid) in capsys.readouterr().out


def test_times_are_local_and_show_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Warsaw")
    time.tzset()
    try:
        assert local_time(datetime(2026, 7, 1, 10, 0, tzinfo=UTC)) == "2026-07-01 12:00:00 CEST"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert local_time(None) == ""


def test_all_times_of_commands_are_formatted_by_local_time() -> None:
    written = [
        f"{path}: {line.strip()}"
        for package in ("cli", "clientkit")
        for path in (Path(output.__file__).parents[1] / package).rglob("*.py")
        if path.name != "local_times.py"
        for line in path.read_text().splitlines()
        if re.search(r":%(F|Y|T|H)", line)
    ]
    assert written == []
