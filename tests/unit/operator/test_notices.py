"""Notices of what needs a person's attention."""

from uuid import UUID, uuid4

import pytest

from sluice.contracts.chains.attention import (
    Acknowledgement,
    Notice,
    NoticeSeverity,
    Subject,
)
from sluice.contracts.chains.chains import ChainDataset, ChainStep
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
    PilotState,
    StepState,
    TaskState,
)
from sluice.contracts.data.datasets import Dataset, StalledGroup
from sluice.contracts.jobs.steps import DISABLED, StepLoad, StepPriority
from sluice.contracts.jobs.tasks import UnschedulableTask
from tests.unit.operator.chains import NOW, make_chain, make_status
from tests.unit.operator.notice_texts import list_texts, notice
from tests.unit.operator.pilots import make_pilot
from wfms.operator.monitoring.domain import chain_notices, data_notices, notices, pilot_notices


def test_notice_of_a_failed_chain_has_the_reason_and_can_be_acknowledged() -> None:
    failed = make_chain(
        ChainState.FAILED,
        ChainStep(name="a", state=StepState.FAILED, reason="its input has no files"),
    )
    [notice] = chain_notices.report_chain(failed)
    assert notice.text == "t over d failed: step a: its input has no files"
    assert (notice.severity, notice.chain_uid, notice.since) == (
        NoticeSeverity.ERROR,
        failed.uid,
        NOW,
    )
    assert notice.id is not None
    assert Notice.subject_of(notice.id) == (Subject.CHAIN, failed.uid)


def test_failed_jobs_of_a_finished_chain_wait_for_a_decision() -> None:
    datasets = {
        uid: make_output_dataset(uid, type, files, size)
        for uid, type, files, size in [
            (UUID(int=1), DatasetType.INPUT, 20, 2_000_000),
            (UUID(int=2), DatasetType.INTERMEDIATE, 19, 1_000_000),
            (UUID(int=3), DatasetType.OUTPUT, 1, 500),
            (UUID(int=4), DatasetType.INTERMEDIATE, 5, 700),
        ]
    }
    finished = make_chain(ChainState.FINISHED).model_copy(
        update={
            "failed_jobs": 1,
            "datasets": [
                ChainDataset(
                    uid=uid,
                    name="x",
                    step=None,
                    port=None,
                    state=ChainDatasetStatus.FINISHED if uid.int == 4 else ChainDatasetStatus.READY,
                )
                for uid in datasets
            ],
        }
    )
    [notice] = chain_notices.report_failures([finished], datasets)
    assert notice.text == (
        "t over d: 1 job failed, and the chain finished without it. What a rerun needs stays (39"
        f" files, 3.0 MB) until you run the chain again (`sluice chain rerun --failed-only"
        f" {finished.uid}`), or acknowledge this: then copies and intermediate data are deleted"
    )
    assert notice.id == f"failures:{finished.uid}"
    assert (notice.severity, notice.chain_uid, notice.since) == (
        NoticeSeverity.WARNING,
        finished.uid,
        NOW,
    )


def make_output_dataset(uid: UUID, type: DatasetType, files: int, size: int) -> Dataset:
    return Dataset(
        uid=uid,
        name="x",
        type=type,
        state=DatasetState.CLOSED,
        meta={},
        count_files=files,
        bytes=size,
        timestamp=NOW,
    )


def test_notice_of_a_step_that_cannot_start_disappears_by_itself() -> None:
    stuck = ChainStep(name="a", state=StepState.STARTING, reason="there is no storage")
    steps = [stuck, ChainStep(name="b", state=StepState.PENDING)]
    [notice] = chain_notices.report_chain(make_chain(ChainState.IN_PROGRESS, *steps))
    assert (notice.text, notice.severity, notice.id) == (
        "t over d, step a: there is no storage",
        NoticeSeverity.WARNING,
        None,
    )
    assert chain_notices.report_chain(make_chain(ChainState.CANCELED, *steps)) == []


def test_failed_and_quarantined_jobs_have_notices() -> None:
    failed, quarantined = make_status(failed=1, ready=5), make_status(quarantined=2, failed=3)
    [first] = chain_notices.report_task(failed, {failed.chain_uid: "d"})
    assert (first.text, first.severity) == (
        "t over d, step decode: 1 job failed permanently (1 × tool refused):"
        f" `sluice task jobs {failed.uid} --state failed`",
        NoticeSeverity.WARNING,
    )
    cause = "job 7 (f0): tool_refused: it has no input (`sluice logs 7` shows its log)"
    for number, more in (
        (1, ""),
        (2, f"; `sluice task jobs {failed.uid} --state failed` lists all"),
    ):
        failed_with_reason = failed.model_copy(update={"reason": cause, "failed": number})
        [named] = chain_notices.report_task(failed_with_reason, {})
        assert named.text.endswith(f"failed permanently (1 × tool refused); {cause}{more}")
    [second] = chain_notices.report_task(quarantined, {})
    assert second.text == (
        "t, step decode: 2 jobs took several pilots down and wait for a decision:"
        f" `sluice task jobs {quarantined.uid} --state quarantined`"
    )
    assert (second.severity, second.task_uid) == (NoticeSeverity.ERROR, quarantined.uid)
    assert notices.sort_notices([first, second]) == [second, first]
    assert chain_notices.report_task(make_status(ready=3, running=1), {}) == []
    ended = failed.model_copy(update={"state": TaskState.FAILED, "ended_at": NOW})
    assert chain_notices.report_task(ended, {}) == []


def test_notice_of_a_lost_pilot_ends_with_acknowledgement_or_its_return() -> None:
    lost = make_pilot()
    [notice] = pilot_notices.report_lost_pilots([lost])
    assert notice.text == "Pilot p on h stopped answering; its jobs were given to others"
    assert notice.id == f"pilot:{lost.uid}"
    acknowledged_pilot = lost.model_copy(update={"acknowledged": Acknowledgement(by="Ann", at=NOW)})
    assert pilot_notices.report_lost_pilots([acknowledged_pilot]) == []
    assert (
        pilot_notices.report_lost_pilots([lost.model_copy(update={"state": PilotState.ACTIVE})])
        == []
    )
    assert (
        pilot_notices.report_lost_pilots([make_pilot(registered=5, state=PilotState.ACTIVE), lost])
        == []
    )
    assert (
        pilot_notices.report_lost_pilots([make_pilot(registered=5, state=PilotState.GONE), lost])
        == []
    )
    other = make_pilot(registered=5, state=PilotState.ACTIVE, host="elsewhere")
    assert len(pilot_notices.report_lost_pilots([other, lost])) == 1


def test_each_lost_pilot_has_a_notice() -> None:
    assert (
        len(pilot_notices.report_lost_pilots([make_pilot(f"p{number}") for number in range(5)]))
        == 5
    )


def test_jobs_without_any_pilot_have_a_notice() -> None:
    assert list_texts(pilot_notices.report_missing_pilots([], waiting_jobs=5)) == [
        "5 jobs wait, and no pilot runs: start one"
    ]
    assert list_texts(
        pilot_notices.report_missing_pilots([make_pilot(state=PilotState.GONE)], waiting_jobs=1)
    ) == ["1 job waits, and no pilot runs: start one"]
    assert (
        pilot_notices.report_missing_pilots([make_pilot(state=PilotState.DRAINING)], waiting_jobs=5)
        == []
    )
    assert pilot_notices.report_missing_pilots([], waiting_jobs=None) == [], "the number is unknown"


def test_disabled_steps_with_waiting_jobs_have_notices() -> None:
    words = StepPriority(step="words", priority=DISABLED, by="Ann", reason="new model", since=NOW)
    here = words.model_copy(update={"template": "maps"})
    loads = [
        StepLoad(step="words", template="a", waiting=1000, priority=words),
        StepLoad(step="words", template="b", waiting=4, priority=words),
        StepLoad(step="words", template="maps", waiting=1, priority=here),
        StepLoad(step="words", template="c", in_flight=3, priority=words),
        StepLoad(step="lines", template="a", waiting=9),
    ]
    since = f"since {NOW:%F %T} (new model): none of its jobs is leased"
    reports = pilot_notices.report_disabled_steps(loads)
    assert list_texts(reports) == [
        f"Step words is disabled by Ann {since}, and 1\u202f004 jobs wait"
        " (`sluice step enable words` enables it)",
        f"Step words is disabled in template maps by Ann {since}, and 1 job waits"
        " (`sluice step enable words --template maps` enables it)",
    ]
    assert {(notice.page, notice.since, notice.id) for notice in reports} == {("steps", NOW, None)}
    assert pilot_notices.report_disabled_steps(loads[3:]) == [], "no job waits for the step"


@pytest.mark.parametrize(
    ("lasting", "happened", "limit", "shown"),
    [
        (3, 3, 10, (3, 3)),
        (1000, 3, 10, (7, 3)),
        (1000, 3, 1000, (997, 3)),
        (3, 1000, 10, (3, 7)),
        (50, 50, 10, (5, 5)),
        (50, 50, 1, (0, 1)),
        (50, 0, 1, (1, 0)),
        (0, 0, 10, (0, 0)),
    ],
)
def test_lasting_conditions_and_events_do_not_hide_each_other(
    lasting: int, happened: int, limit: int, shown: tuple[int, int]
) -> None:
    all_notices = [notice(f"held {number}", task=True) for number in range(lasting)]
    all_notices += [
        notice(f"failed {number}", NoticeSeverity.WARNING, happened=True)
        for number in range(happened)
    ]
    chosen = list_texts(notices.select_notices(all_notices, limit=limit))
    assert chosen == list_texts(
        [*all_notices[: shown[0]], *all_notices[lasting : lasting + shown[1]]]
    )


def test_notice_of_the_whole_system_comes_first() -> None:
    all_notices = [
        notice("held", task=True),
        notice("failed", happened=True),
        notices.error_notice("no answer"),
    ]
    assert list_texts(notices.select_notices(all_notices, limit=2)) == ["no answer", "failed"]


@pytest.mark.parametrize(
    "identifier", ["", "chain", "chain:", "chain:x", f"task:{UUID(int=1)}", f"{UUID(int=1)}"]
)
def test_invalid_notice_identifier_has_no_subject(identifier: str) -> None:
    assert Notice.subject_of(identifier) is None


def test_stalled_uploads_and_deletions_have_one_notice_for_each_reason() -> None:
    chain_uid = uuid4()
    first = make_dataset(meta={"chain": str(chain_uid), "output_name": "d.report"})
    up = StalledGroup(
        state=DatasetState.UPLOADING, reason="out is disabled", first=first, number=1, since=NOW
    )
    [single, many, halted] = data_notices.report_stalled_transfers(
        [
            up,
            up.model_copy(update={"number": 57}),
            StalledGroup(
                state=DatasetState.DELETING,
                reason="a link",
                halted=True,
                first=make_dataset(),
                number=1,
            ),
        ]
    )
    assert (single.text, single.chain_uid, single.page) == (
        "The upload of data set d.report does not continue: out is disabled",
        chain_uid,
        None,
    )
    assert (single.severity, single.since, single.id) == (NoticeSeverity.WARNING, NOW, None)
    assert (many.text, many.chain_uid) == (
        "The upload of 57 data sets does not continue: out is disabled",
        None,
    )
    assert many.page == "datasets"
    assert halted.text.startswith(
        "The deletion of data set d does not continue: a link (it waits for `sluice dataset resume "
    )
    assert (halted.severity, halted.chain_uid, halted.page) == (
        NoticeSeverity.ERROR,
        None,
        "datasets",
    )


def make_dataset(*, meta: dict[str, str] | None = None) -> Dataset:
    return Dataset(
        uid=uuid4(),
        name="d",
        type=DatasetType.INTERMEDIATE,
        state=DatasetState.UPLOADING,
        meta=meta or {},
        count_files=1,
        bytes=1,
        timestamp=NOW,
    )


def test_pilot_that_fails_where_others_succeed_has_a_notice_while_present() -> None:
    failing = make_pilot("old", state=PilotState.ACTIVE).model_copy(
        update={"quarantined_steps": ["concat", "resize"]}
    )
    [text] = list_texts(
        pilot_notices.report_quarantined_pilots(
            [failing, make_pilot("good", state=PilotState.ACTIVE)]
        )
    )
    assert text.startswith("Pilot old on h fails at concat, resize, where others succeed")
    assert f"sluice pilot show {failing.uid}" in text
    gone_pilot = failing.model_copy(update={"state": PilotState.GONE})
    assert pilot_notices.report_quarantined_pilots([gone_pilot]) == []


def test_work_that_fits_no_node_has_a_notice() -> None:
    chain, uid = uuid4(), uuid4()
    reason = "no node fits: a job needs 8 cores, the node has 2"
    task = UnschedulableTask(
        uid=uid, chain_uid=chain, step="decode", template="t", ready=3, reason=reason
    )
    [notice] = chain_notices.report_unschedulable_tasks([task], {chain: "run-1"})
    assert notice.text == f"t over run-1, step decode: 3 jobs wait, and {reason}"
    assert (notice.severity, notice.task_uid) == (NoticeSeverity.ERROR, uid)
    one = task.model_copy(update={"ready": 1})
    assert list_texts(chain_notices.report_unschedulable_tasks([one], {})) == [
        f"t, step decode: 1 job waits, and {reason}"
    ]
