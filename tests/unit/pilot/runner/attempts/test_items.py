"""Tests of jobs that get an item of a list of their task, in a real slot process."""

import sys
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.job_inputs import InputItem, JobInput
from sluice.contracts.jobs.needs import Needs, Warm
from sluice.contracts.pilots.leases import PilotTask
from tests.unit.pilot.attempts import list_files, read_log, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

SAY = make_tool(
    ["echo"],
    inputs={
        "share": {"type": "float", "inputBinding": {"position": 1}},
        "words": {"type": "string[]", "inputBinding": {"position": 2, "itemSeparator": "+"}},
        "f": {"type": "File?"},
    },
    outputs={"o": "stdout"},
    stdout="said",
)
LISTS = {"share": [0.5, 1.25e-7, 3.0], "words": [["a", "b"], ["c"], []]}


def make_item(port: str, place: int, *, seq: int = 0) -> InputItem:
    return InputItem(seq=seq, name=f"{port}[{place}]", port=port, place=place)


def make_list_task(root: Path, executable: dict[str, Any] = SAY, **more: Any) -> PilotTask:
    prepared = make_task(root, executable, args=LISTS, dat_in_port="", **more)
    return prepared.model_copy(
        update={"needs": prepared.needs.model_copy(update={"items": list(LISTS)})}
    )


def read_outputs(root: Path) -> list[str]:
    return [path.read_text() for path in sorted((root / "out").iterdir())]


def test_job_without_files_gets_its_items(runner: Runner, root: Path) -> None:
    """The items are a fraction in decimal notation and a list."""
    report = run(runner, make_list_task(root), [make_item("share", 1), make_item("words", 0)])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert read_outputs(root) == ["0.000000125 a+b\n"]
    assert "share[1], words[0]" in read_log(report)


def test_batch_entry_gets_its_items_and_its_file(runner: Runner, root: Path) -> None:
    inputs: list[JobInput] = []
    for seq in (3, 4):
        file = write_input(root / "in" / f"{seq}.dat", seq=seq)
        inputs += [file, make_item("share", seq - 3, seq=seq), make_item("words", 4 - seq, seq=seq)]
    batch = make_list_task(root, batch=2).model_copy(update={"dat_in_port": "f"})
    report = run(runner, batch, inputs, seq=3)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert [file.number for file in report.outputs] == [3, 4]
    assert read_outputs(root) == ["0.5 c\n", "0.000000125 a+b\n"]


def test_message_of_a_failed_entry_names_its_item(runner: Runner, root: Path) -> None:
    failing_task = make_list_task(root, {**SAY, "baseCommand": ["false"]}, batch=2)
    inputs = [make_item("share", n, seq=n) for n in (0, 1)] + [
        make_item("words", n, seq=n) for n in (0, 1)
    ]
    report = run(runner, failing_task, inputs)
    assert report.message.startswith("share[0]: ")
    assert list_files(root / "out") == []


@pytest.mark.parametrize(("second", "starts"), [(0, 1), (1, 2), (2, 1)])
def test_warm_worker_is_restarted_for_another_value_of_its_key(
    runner: Runner, root: Path, second: int, starts: int
) -> None:
    """Equal items share a process."""
    lines = ("import uuid, sluice.warm", "me = uuid.uuid4()")
    code = "\n".join((*lines, "sluice.warm.serve(lambda _: print(me) or 0)"))
    tool_with_key = make_tool(
        [sys.executable, "-c", code],
        inputs={"word": {"type": "string", "inputBinding": {}}},
        outputs={"o": "stdout"},
        stdout="said",
    )
    keyed_task = make_task(root, tool_with_key, args={"word": ["a", "b", "a"]}, dat_in_port="")
    needs = Needs(
        resources=keyed_task.needs.resources, items=["word"], warm=Warm(key=["word"], kind="k" * 32)
    )
    warm = keyed_task.model_copy(update={"needs": needs})
    for seq, place in enumerate((0, second)):
        report = run(runner, warm, [make_item("word", place, seq=seq)], seq=seq)
        assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert len(set(read_outputs(root))) == starts
