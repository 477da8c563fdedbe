"""Flat form of tasks and steps, which the previous release writes and reads."""

from typing import Any

from sluice.contracts.common.states import EntryKind, InputMode, Pick, TaskMode
from sluice.contracts.jobs.tasks import Task, TaskInput
from sluice.contracts.templates.plan import PlanStep, Source

UIDS = [f"00000000-0000-0000-0000-00000000000{number}" for number in range(9)]

#: A message of the previous release with all fields of inputs and outputs.
MESSAGE: dict[str, Any] = {
    "uid": UIDS[0], "chain_uid": UIDS[1], "step": "s", "template": "t@1", "executable": {},
    "args": {}, "mode": "map", "dat_in_uid": UIDS[2], "dat_in_port": "a", "dat_in_optional": True,
    "dat_in_kind": "bundle", "next_inputs": [{"dat_in_uid": UIDS[3], "start": 5}],
    "pick": "first_non_null",
    "side_inputs": [{"port": "b", "dat_in_uid": UIDS[4], "mode": "one"}],
    "dat_out_uid": UIDS[5], "dat_out_port": "o", "dat_out_optional": True, "dat_out_spread": True,
    "dat_out_kind": "bundle", "dat_stor_url": "file:///s", "dat_out_url": "file:///s/o",
    "side_outputs": [
        {"port": "p", "dat_out_uid": UIDS[6], "dat_stor_url": "file:///s",
         "dat_out_url": "file:///s/p"},
    ],
    "log_out_uid": UIDS[7], "log_stor_url": "file:///l", "log_out_url": "file:///l/l",
}  # fmt: skip

#: A step of a plan stored by the previous release.
STEP: dict[str, Any] = {
    "name": "s", "mode": "merge", "data_port": "a", "source": {"step": "before", "port": "o"},
    "next_sources": [{"source": {"step": None, "port": "data"}, "start": 5}],
    "pick": "the_only_non_null", "data_optional": True, "data_kind": "bundle",
    "side_inputs": [{"port": "b", "source": {"step": None, "port": "x"}, "mode": "all"}],
    "outputs": [{"port": "o"}], "tool": {},
}  # fmt: skip


def test_message_of_the_previous_release_survives_reading_and_writing() -> None:
    task = Task.model_validate(MESSAGE)
    first, side = task.inputs
    assert (first.port, str(first.dat_in_uid), first.mode) == ("a", UIDS[2], InputMode.EACH)
    assert (first.optional, first.kind, first.pick) == (True, EntryKind.BUNDLE, Pick.FIRST)
    assert [behind.start for behind in first.next_inputs] == [5]
    assert (side.port, side.mode) == ("b", InputMode.ONE)
    assert [output.port for output in task.outputs] == ["o", "p"]
    assert task.main_output.spread
    assert task.model_dump(mode="json", exclude_defaults=True) == MESSAGE


def test_stored_step_of_the_previous_release_survives_reading_and_writing() -> None:
    step = PlanStep.model_validate(STEP)
    assert (step.mode, step.main_input.mode) == (TaskMode.MERGE, InputMode.ALL)
    assert step.sources == [
        Source(step="before", port="o"),
        Source(step=None, port="data"),
        Source(step=None, port="x"),
    ]
    assert step.model_dump(mode="json", exclude_defaults=True) == STEP


def test_nested_lists_of_a_task_are_read() -> None:
    task = Task.model_validate(MESSAGE)
    nested = {key: value for key, value in MESSAGE.items() if not key.startswith(("dat_", "side_"))}
    del nested["next_inputs"], nested["pick"]
    inputs = [given.model_dump(mode="json") for given in task.inputs]
    outputs = [given.model_dump(mode="json") for given in task.outputs]
    assert Task.model_validate({**nested, "inputs": inputs, "outputs": outputs}) == task


def test_mode_of_an_input_that_differs_from_the_task_mode_is_kept() -> None:
    task = Task.model_validate(MESSAGE)
    first = TaskInput.model_validate({**task.main_input.model_dump(), "mode": InputMode.ALL})
    changed = task.model_copy(update={"inputs": [first]})
    assert Task.model_validate(changed.model_dump(mode="json")) == changed
