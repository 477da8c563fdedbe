"""Pages and commands show append-only data sets and templates with triggers."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from sluice.clientkit.local_times import local_time
from sluice.contracts.common.problems import Finding, NotFound
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.append_only import ScheduleState, SliceConsumer, SliceOf
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.unit.cwl.plans.triggered_samples import make_data_template, make_values_template

TIME = datetime(2026, 10, 1, 3, tzinfo=UTC)
CORPUS, SLICE = UUID(int=1), UUID(int=2)


@pytest.fixture
def corpus(operator: Operator) -> Dataset:
    """Return a data set of twelve files; the template ``train`` got ten of them."""
    fields = {"type": DatasetType.INPUT, "count_files": 12, "bytes": 5, "timestamp": TIME}
    grows = Dataset(
        uid=CORPUS,
        name="corpus",
        state=DatasetState.OPEN,
        meta={"type": "corpus"},
        append_only="corpus",
        **fields,
    )
    slice_dataset = Dataset(
        uid=SLICE,
        name="corpus.train.1",
        state=DatasetState.CLOSED,
        meta={"type": "corpus"},
        slice=SliceOf(append_only=CORPUS, name="corpus", reader="train", number=1),
        **fields,
    )
    reader = SliceConsumer(name="train", used=10, slices=1, last_at=TIME, last=SLICE)
    operator.neighbours.datasets |= {CORPUS: grows, SLICE: slice_dataset}
    operator.neighbours.append_only = [
        AppendOnlyDataset(dataset=grows, since=TIME, readers=[reader])
    ]
    return grows


async def publish(operator: Operator, name: str, text: str) -> None:
    await operator.client.store_template(NewTemplate(name=name, cwl=text))


GROWN = make_data_template("{sluice:type: corpus, every: {files: 1000, hours: 24}}")


@pytest.mark.usefixtures("corpus")
async def test_growth_trigger_shows_the_number_of_new_files(
    operator: Operator, sluice: Command
) -> None:
    await publish(operator, "train", GROWN)
    trigger = await operator.client.get_template_trigger("train")
    (one,) = trigger.sets
    assert (trigger.kind, one.name, one.new, one.files, one.last) == (
        "growth",
        "corpus",
        2,
        12,
        SLICE,
    )
    page = (await operator.http.get("/templates/train")).text
    assert "when 1000 files are new, or 24 hours have gone" in page
    assert "2 new files" in page
    assert "new files</text>" in page, "the drawing shows it"
    assert "into done" in page
    output = await sluice("template", "show", "train")
    assert "runs automatically when 1000 files are new, or 24 hours have gone" in output
    assert f"corpus: 2 new files of 12; 1 slice, the last {local_time(TIME)}" in output
    assert "when 1000 files" in (await operator.http.get("/templates")).text


async def test_schedule_shows_its_next_and_its_last_time(
    operator: Operator, sluice: Command
) -> None:
    await publish(
        operator, "nightly", make_values_template("{schedule: 0 3 * * *, zone: Europe/Warsaw}")
    )
    operator.neighbours.schedules.append(
        ScheduleState(template="nightly", last_at=TIME, outcome="a chain of nightly-1-x")
    )
    trigger = await operator.client.get_template_trigger("nightly")
    assert (trigger.kind, trigger.last_at, trigger.sets) == ("schedule", TIME, [])
    assert trigger.next_at is not None
    assert trigger.next_at.minute == 0
    page = (await operator.http.get("/templates/nightly")).text
    assert "at 0 3 * * * (Europe/Warsaw), on its parameters alone" in page
    assert "a chain of nightly-1-x" in page
    assert "Next time" in page
    output = await sluice("template", "show", "nightly")
    assert f"next time: {local_time(trigger.next_at)}" in output
    assert f"last time: {local_time(TIME)}: a chain of nightly-1-x" in output
    await operator.client.disable_template("nightly")
    assert (await operator.client.get_template_trigger("nightly")).next_at is None


async def test_template_without_a_trigger_has_no_times(operator: Operator) -> None:
    await publish(operator, "plain", make_data_template("{kind: raw}"))
    with pytest.raises(NotFound, match="has no trigger"):
        await operator.client.get_template_trigger("plain")
    assert (await operator.http.get("/templates/plain")).status_code == 200


async def test_append_only_data_set_shows_the_files_that_templates_got(
    operator: Operator, corpus: Dataset, sluice: Command
) -> None:
    page = (await operator.http.get(f"/datasets/{corpus.uid}")).text
    assert "append-only" in page
    assert 'href="/templates/train"' in page
    assert "Start a chain" not in page
    assert "append-only" in (await operator.http.get("/datasets")).text
    assert "Slice 1 of" in (await operator.http.get(f"/datasets/{SLICE}")).text
    output = await sluice("dataset", "show", "corpus")
    assert "corpus: input, append-only, 12 files" in output
    assert f"train was given 10 files in 1 slice, the last {local_time(TIME)}" in output
    assert "append-only" in await sluice("dataset", "list")
    operator.neighbours.append_only = []
    assert "No template was given any" in (await operator.http.get(f"/datasets/{corpus.uid}")).text


CYCLE = ("la", "a", "b"), ("lb", "b", "a")


def make_cycle_template(takes: str, gives: str) -> str:
    text = make_data_template(f"{{sluice:type: {takes}, every: {{files: 1}}}}")
    assert "sluice:collect: done" in text
    return text.replace("sluice:collect: done", f"sluice:collect: {gives}")


async def test_template_of_a_trigger_cycle_tells_why_it_starts_no_more(
    operator: Operator, corpus: Dataset, sluice: Command
) -> None:
    for name, takes, gives in CYCLE:
        await publish(operator, name, make_cycle_template(takes, gives))
    grows = corpus.model_copy(update={"meta": {"type": "a"}})
    operator.neighbours.append_only = [
        AppendOnlyDataset(dataset=grows, since=TIME, readers=[], generation=5)
    ]
    (one,) = (await operator.client.get_template_trigger("la")).sets
    assert one.blocked_reason is not None
    assert "la → lb → la" in one.blocked_reason
    assert "la → lb → la" in await sluice("template", "show", "la")
    assert "la → lb → la" in (await operator.http.get("/templates/la")).text
    await operator.client.disable_template("lb")
    (one,) = (await operator.client.get_template_trigger("la")).sets
    assert one.blocked_reason is None


async def test_template_that_closes_a_trigger_cycle_gets_a_warning(
    operator: Operator, sluice: Command, tmp_path: Path
) -> None:
    (la, *first), (lb, *second) = CYCLE
    stored = await operator.client.store_template(
        NewTemplate(name=lb, cwl=make_cycle_template(*second))
    )
    assert list_cycles(stored.warnings) == []
    new = NewTemplate(name=la, cwl=make_cycle_template(*first))
    (finding,) = list_cycles((await operator.client.compare_template(new)).warnings)
    assert (finding.severity, "la → lb → la" in finding.message) == ("warning", True)
    file = tmp_path / "la.cwl"
    file.write_text(make_cycle_template(*first))
    assert "la → lb → la" in await sluice("template", "publish", str(file), "--dry-run")
    token = read_token(await operator.http.get("/templates"))
    sent = {"name": la, "cwl": make_cycle_template(*first), "csrf_token": token}
    review = await operator.http.post("/templates", data=sent, follow_redirects=True)
    assert "la → lb → la" in review.text
    assert list_cycles((await operator.client.store_template(new)).warnings) == [finding]
    assert list_cycles((await operator.client.get_template(la)).warnings) == [], (
        "the stored template has no warnings"
    )
    itself = NewTemplate(name="itself", cwl=make_cycle_template("c", "c"))
    assert list_cycles((await operator.client.store_template(itself)).warnings) == []


def list_cycles(warnings: list[Finding]) -> list[Finding]:
    return [finding for finding in warnings if "forms a trigger cycle" in finding.message]
