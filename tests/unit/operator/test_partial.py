"""Partial outputs of a chain that did not finish, and the reasons for missing parts."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from sluice.contracts.chains.chains import Chain, ChainDataset, ChainStep
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
    StepState,
)
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.data.partial import PartialOutput
from tests.unit.cwl.samples import GRAPH, compile_plan
from wfms.operator.chains.domain.partial import partial_outputs

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_entry(step: str | None, port: str | None) -> ChainDataset:
    return ChainDataset(uid=uuid4(), name="x", step=step, port=port, state=ChainDatasetStatus.READY)


def make_dataset(uid: UUID, state: DatasetState = DatasetState.CLOSED) -> Dataset:
    return Dataset(uid=uid, name="x", type=DatasetType.INTERMEDIATE, state=state, meta={},
                   count_files=3, bytes=30, timestamp=NOW)  # fmt: skip


def make_chain(steps: list[ChainStep], entries: list[ChainDataset]) -> Chain:
    return Chain(
        uid=uuid4(), state=ChainState.FAILED, template_id=uuid4(), template="t",
        template_version=1, dataset_uid=uuid4(), dataset_name="d", params={}, created_at=NOW,
        steps=steps, datasets=entries,
    )  # fmt: skip


def list_missing_by_label(parts: list[PartialOutput]) -> dict[str, str]:
    return {part.label: part.missing for part in parts}


def test_partial_output_of_each_step_says_what_is_missing() -> None:
    steps = [
        ChainStep(name="a", state=StepState.FINISHED),
        ChainStep(name="b", state=StepState.FAILED, reason="3 of 9 jobs failed"),
        ChainStep(name="c", state=StepState.PENDING),
    ]
    entries = [
        make_entry(None, None), make_entry("a", None), make_entry("a", "out"),
        make_entry("b", "out"), make_entry("b", "out~before"), make_entry("b", None),
    ]  # fmt: skip
    datasets = {e.uid: make_dataset(e.uid) for e in entries}
    parts = partial_outputs(make_chain(steps, entries), datasets, None)
    assert list_missing_by_label(parts) == {
        "out of a": "",
        "logs of a": "",
        "out of b": "only the outputs of finished jobs: the step failed (3 of 9 jobs failed)",
        "logs of b": "",
        "logs of c": "the step never began",
    }
    assert [part.folder for part in parts] == ["a.out", "a.logs", "b.out", "b.logs", "c.logs"]
    assert [part.readable for part in parts] == [True] * 4 + [False]


def test_step_that_never_began_shows_the_outputs_of_its_template() -> None:
    plan = compile_plan(GRAPH)
    planned = plan.steps[0]
    steps = [ChainStep(name=planned.name, state=StepState.CANCELED, reason="by request")]
    parts = partial_outputs(make_chain(steps, []), {}, plan)
    assert [part.port for part in parts] == [output.port for output in planned.outputs]
    assert {part.missing for part in parts} == {"the step never began (by request)"}


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (DatasetState.OPEN, "it is not complete: try again in a moment"),
        (DatasetState.DELETING, "it was deleted, because it was no longer needed"),
        (DatasetState.DELETED, "it was deleted, because it was no longer needed"),
        (DatasetState.UPLOADED, ""),
        (None, "its data set no longer exists"),
    ],
)
def test_unreadable_output_says_why(state: DatasetState | None, reason: str) -> None:
    steps, entries = [ChainStep(name="a", state=StepState.FINISHED)], [make_entry("a", "out")]
    datasets = {} if state is None else {entries[0].uid: make_dataset(entries[0].uid, state)}
    [part] = partial_outputs(make_chain(steps, entries), datasets, None)
    assert (part.missing, part.readable) == (reason, not reason)


def test_folders_of_partial_outputs_have_different_names() -> None:
    """The names differ even on file systems that ignore case."""
    steps = [ChainStep(name=name, state=StepState.FINISHED) for name in ("a", "a.b", "A")]
    entries = [make_entry("a", "b.c"), make_entry("a.b", "c"), make_entry("A", "B.c")]
    datasets = {e.uid: make_dataset(e.uid) for e in entries}
    parts = partial_outputs(make_chain(steps, entries), datasets, None)
    assert [part.folder for part in parts] == ["a.b.c", "a.b.c-2", "A.B.c-3"]
