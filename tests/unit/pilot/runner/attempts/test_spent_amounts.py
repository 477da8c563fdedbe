"""Tests of the amounts that tools report as spent, in a real slot process."""

from pathlib import Path

import pytest

from sluice.contracts.common.states import AttemptOutcome
from tests.unit.pilot.attempts import read_log, run
from tests.unit.pilot.builders import SHA, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.attempts.attempts_with_checkpoints import StandaloneAttempt
from tests.unit.pilot.slot_runner import Runner

#: Spends 11 for each input and ends with the exit code in its first argument.
SPEND_AMOUNTS = """printf '%s' '{"places": 11}' > sluice.spent.json; echo x; exit $0"""


@pytest.mark.parametrize(
    ("code", "outcome"), [(0, AttemptOutcome.FINISHED), (3, AttemptOutcome.FAILED)]
)
def test_spent_amounts_are_reported_however_the_tool_ends(
    runner: Runner, root: Path, code: int, outcome: AttemptOutcome
) -> None:
    spending = make_task(
        root, make_tool(["sh", "-c", SPEND_AMOUNTS, str(code)]), named={"places": 24, "other": 1}
    )
    report = run(runner, spending, [write_input(root / "in" / "a")])
    assert (report.outcome, report.spent) == (outcome, {"places": 11}), report.message


def test_spent_amounts_of_entries_are_added_up_to_the_reserved_amount(
    runner: Runner, root: Path
) -> None:
    spending = make_tool(["sh", "-c", SPEND_AMOUNTS, "0"])
    files = [write_input(root / "in" / f"{seq}", seq=seq) for seq in range(3)]
    report = run(runner, make_task(root, spending, named={"places": 40}, batch=3), files)
    assert report.spent == {"places": 33}, report.message
    report = run(runner, make_task(root / "less", spending, named={"places": 24}, batch=3), files)
    assert report.spent == {"places": 24}, report.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"places": -1}', "greater than or equal to 0"),
        ('{"places": NaN}', "sluice.spent.json"),
        ("[]", "sluice.spent.json"),
        ("{" * 70_000, "is larger than 65536 bytes"),
    ],
    ids=["negative", "no number", "list", "large"],
)
def test_invalid_file_of_spent_amounts_is_ignored_and_the_log_says_why(
    runner: Runner, root: Path, text: str, message: str
) -> None:
    writes = make_tool(["sh", "-c", "cat $0 > sluice.spent.json"], inputs=SHA["inputs"])
    file = write_input(root / "in" / "text", data=text.encode())
    report = run(runner, make_task(root, writes, named={"places": 24}), [file])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert report.spent == {}
    log = read_log(report)
    assert "the whole reservation of the job counts as spent" in log
    assert message in log


@pytest.mark.parametrize("what", ["ln -s /etc/passwd", "mkfifo", "mkdir"])
def test_links_pipes_and_folders_named_like_the_file_are_not_read(
    runner: Runner, root: Path, what: str
) -> None:
    makes = make_tool(["sh", "-c", f"{what} sluice.spent.json"])
    report = run(
        runner, make_task(root, makes, named={"places": 24}), [write_input(root / "in" / "a")]
    )
    assert report.spent == {}


#: Writes a result and the spent amounts.
WRITE_RESULT_AND_AMOUNTS = "printf '{\"places\": 11}' > sluice.spent.json; echo '{}' > result.json"


@pytest.mark.parametrize("named", [{}, {"places": 24}], ids=["no quota", "quota"])
@pytest.mark.parametrize("is_inner", [False, True], ids=["tool", "workflow in a job"])
def test_file_of_spent_amounts_is_not_an_output(
    runner: Runner, root: Path, named: dict[str, float], is_inner: bool
) -> None:
    outputs = {"o": {"type": "File", "outputBinding": {"glob": "*.json"}}}
    process = make_tool(["sh", "-c", WRITE_RESULT_AND_AMOUNTS], outputs=outputs, stdout="said")
    executable = wrap_in_workflow(process) if is_inner else process
    report = run(runner, make_task(root, executable, named=named), [write_input(root / "in" / "a")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    [output] = report.outputs
    assert output.url.endswith("result.json")


def test_file_of_spent_amounts_is_not_kept_in_checkpoints(tmp_path: Path) -> None:
    first = StandaloneAttempt(tmp_path / "store", 1, files=("*.json",))
    first.write_file("sluice.spent.json", '{"places": 11}')
    first.write_file("state.json", "{}")
    first.keep_checkpoint()
    assert StandaloneAttempt(tmp_path / "store", 2, files=("*.json",)).restore_checkpoint() == {
        "state.json": "{}"
    }


def test_tool_that_never_started_spent_nothing(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "a")
    (root / "in" / "a").unlink()
    report = run(runner, make_task(root, make_tool(["true"]), named={"places": 24}), [file])
    assert report.outcome is AttemptOutcome.FAILED
    assert report.spent == {"places": 0}
