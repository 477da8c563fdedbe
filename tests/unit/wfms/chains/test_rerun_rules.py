"""The rules of a rerun, with the reasons that it gives."""

from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetType,
    InputMode,
    Pick,
    StepState,
    TaskMode,
)
from sluice.contracts.templates.plan import (
    Batch,
    MergeGroups,
    Parameter,
    ParameterRef,
    Plan,
    PlanStep,
    Source,
    StepInput,
    StepOutput,
)
from tests.unit.wfms.chains.plans import DATA, make_plan, make_step, make_three_steps
from wfms.chains.domain.chain import ChainView, DatasetView, StepView
from wfms.chains.domain.rerun import (
    NOT_UPLOADED,
    ConflictingRerunOptions,
    NoFailedJobs,
    NoSuchStep,
    Rerun,
    RerunRequest,
    plan_rerun,
)

CHAIN, INPUT, FILE, OTHER = (UUID(int=number) for number in range(1, 5))
FINISHED, FAILED, CANCELED = StepState.FINISHED, StepState.FAILED, StepState.CANCELED


def make_ended_chain(
    wf: Plan, *states: StepState, uploaded: bool = False, sent: bool = True, failed_jobs: int = 0
) -> ChainView:
    """Return an ended chain with steps in these states; each step has written all its outputs."""
    steps = [StepView(state, tried=True, sent=sent, failed_jobs=failed_jobs) for state in states]
    ports = [(step.name, output.port) for step in wf.steps for output in step.outputs]
    done = set(states) == {FINISHED}
    return ChainView(
        plan=wf,
        state=ChainState.FINISHED if done else ChainState.FAILED,
        ending=None if done else ChainState.FAILED,
        upload_requested=done,
        input_type=DatasetType.INPUT,
        input_needed=False,
        steps={planned.name: view for planned, view in zip(wf.steps, steps, strict=True)},
        datasets=[
            DatasetView(UUID(int=number), name, port, ChainDatasetStatus.READY, uploaded)
            for number, (name, port) in enumerate(ports, 10)
        ],
    )


def make_rerun(
    chain: ChainView,
    *,
    missing: tuple[int, ...] = (),
    released: tuple[int, ...] = (),
    before: Any = None,
    after: Any = None,
    **options: Any,
) -> Rerun:
    """Plan a rerun.

    ``missing`` are the numbers of data sets that are gone, ``released`` of those that lack files.
    """
    existing_datasets = {INPUT, FILE, *(dataset.uid for dataset in chain.datasets)} - {
        UUID(int=number) for number in missing
    }
    return plan_rerun(
        chain,
        RerunRequest(CHAIN, INPUT, before or {}, after or before or {}, **options),
        readable=existing_datasets,
        released_datasets={UUID(int=number) for number in released},
    )


def make_file_value(uid: UUID) -> dict[str, Any]:
    return {"class": "File", "dataset": str(uid)}


def make_plan_with_parameters() -> Plan:
    """Return a plan: left has the parameter cut, right reads the file masks, last reads left."""
    return make_plan(
        make_step("left", arguments={"cut": ParameterRef(name="cut")}),
        make_step("right", Source(step=None, port="masks")),
        make_step("last", Source(step="left", port="out")),
        outputs=[("last", "out"), ("right", "out")],
        parameters={"cut": Parameter(type="int"), "masks": Parameter(type="File")},
    )


BEFORE = {"cut": 3, "masks": make_file_value(FILE)}
FILE_PARAMETER = "the file that is its parameter masks"


def test_finished_chain_runs_again_completely() -> None:
    assert make_rerun(
        make_ended_chain(make_three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True)
    ).runs == dict.fromkeys(("decode", "filter", "merge"), "asked for")


@pytest.mark.parametrize(
    ("after", "runs"),
    [
        (
            {"cut": 4},
            {"left": "it has other parameters", "last": "it reads the output of step left"},
        ),
        ({"masks": make_file_value(OTHER)}, {"right": "it has other parameters"}),
    ],
)
def test_changed_parameters_rerun_the_steps_that_use_them(
    after: dict[str, Any], runs: dict[str, str]
) -> None:
    chain = make_ended_chain(
        make_plan_with_parameters(), FINISHED, FINISHED, FINISHED, uploaded=True
    )
    assert make_rerun(chain, before=BEFORE, after=BEFORE | after).runs == runs
    with_jobs = make_ended_chain(
        make_plan_with_parameters(), FINISHED, FINISHED, FINISHED, uploaded=True, failed_jobs=1
    )
    second_chain = make_rerun(with_jobs, before=BEFORE, after=BEFORE | after, failed_only=True)
    assert second_chain.by_jobs == second_chain.runs.keys() - {
        name for name, why in runs.items() if "parameters" in why
    }


def test_changed_parameters_are_a_reason_before_failed_jobs() -> None:
    chain = make_ended_chain(
        make_plan_with_parameters(), FINISHED, FINISHED, FINISHED, uploaded=True, failed_jobs=1
    )
    second_chain = make_rerun(chain, before=BEFORE, after=BEFORE | {"cut": 4}, failed_only=True)
    assert second_chain.runs["left"] == "it has other parameters"
    assert second_chain.runs["right"] == "1 of its jobs failed"


def test_requested_first_step_must_exist_and_excludes_failed_only() -> None:
    chain = make_ended_chain(make_three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True)
    assert (
        make_rerun(chain, from_step="decode").runs["merge"] == "it reads the output of step filter"
    )
    assert make_rerun(chain, from_step="filter").runs == {
        "filter": "asked for",
        "merge": "it reads the output of step filter",
    }
    with pytest.raises(NoSuchStep, match="no step 'x'; it has decode, filter, merge"):
        make_rerun(chain, from_step="x")
    with pytest.raises(ConflictingRerunOptions):
        make_rerun(chain, from_step="filter", failed_only=True)
    with pytest.raises(NoFailedJobs):
        make_rerun(chain, failed_only=True)
    some = make_ended_chain(
        make_three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True, failed_jobs=2
    )
    assert make_rerun(some, failed_only=True).runs["filter"] == "2 of its jobs failed"


def test_unfinished_steps_run_whichever_step_is_requested() -> None:
    chain = make_ended_chain(make_three_steps(), FINISHED, CANCELED, CANCELED)
    assert make_rerun(chain, from_step="merge").runs == {
        "filter": "it was canceled, or never began",
        "merge": "asked for",
    }


def test_rerun_takes_over_data_sets_that_it_reads_or_gives_as_outputs() -> None:
    chain = make_ended_chain(make_plan_with_parameters(), FAILED, FINISHED, CANCELED, uploaded=True)
    assert make_rerun(chain, before=BEFORE).reads == {("right", "out")}
    chain = make_ended_chain(make_three_steps(), FINISHED, FINISHED, FAILED)
    assert make_rerun(chain).reads == {("filter", "out")}
    assert make_rerun(chain, from_step="filter").reads == {("decode", "out")}, (
        "the output of a step that runs is not taken over"
    )


def test_missing_data_are_made_again_from_the_nearest_existing_data() -> None:
    chain = make_ended_chain(make_three_steps(), FINISHED, FINISHED, FAILED)
    assert make_rerun(chain, missing=(10,)).runs == {"merge": "it failed"}
    assert make_rerun(chain, missing=(10, 11)).runs == {
        "decode": "its output for step filter is no longer there",
        "filter": "its output for step merge is no longer there",
        "merge": "it failed",
    }
    finished = make_ended_chain(make_three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True)
    assert make_rerun(finished, from_step="merge", missing=(12,)).runs == {"merge": "asked for"}
    divided_chain = make_ended_chain(
        make_plan_with_parameters(), FINISHED, FAILED, FINISHED, uploaded=True
    )
    assert (
        make_rerun(divided_chain, before=BEFORE, missing=(12,)).runs["last"]
        == "its output is no longer there"
    )


ONE = make_plan(make_step("only"), outputs=[("only", "out")])
BESIDE = make_step("beside")


def make_only_step(**more: Any) -> PlanStep:
    return make_step("only").model_copy(update=more)


@pytest.mark.parametrize(
    ("one", "sent", "jobs"),
    [
        (make_only_step(), True, True),
        (make_only_step(), False, False),
        (make_only_step(mode=TaskMode.MERGE), True, False),
        (make_only_step(batch=Batch(files=2)), True, False),
        (make_only_step(single=True), True, False),
        (make_step("only", pick=Pick.FIRST), True, False),
        (make_only_step(outputs=[StepOutput(port="out", spread=True)]), True, False),
    ],
)
def test_jobs_are_taken_over_only_if_each_has_its_own_number_and_outputs(
    one: PlanStep, sent: bool, jobs: bool
) -> None:
    chain = make_ended_chain(
        ONE.model_copy(update={"steps": [one, BESIDE]}), FINISHED, FAILED, sent=sent
    )
    second_chain = make_rerun(chain)
    assert second_chain.runs["only"] == NOT_UPLOADED
    assert second_chain.by_jobs == ({"only"} if jobs else set())


def test_jobs_of_a_failed_step_are_taken_over_only_if_requested() -> None:
    chain = make_ended_chain(ONE, FAILED)
    assert make_rerun(chain).by_jobs == set()
    assert make_rerun(chain, failed_only=True).by_jobs == {"only"}


def test_jobs_are_taken_over_only_if_all_their_outputs_exist() -> None:
    chain = make_ended_chain(
        make_plan(make_step("only", DATA, "a", "b"), outputs=[("only", "a")]), FAILED
    )
    assert make_rerun(chain, failed_only=True).by_jobs == {"only"}
    for missing in (10, 11):
        assert make_rerun(chain, failed_only=True, missing=(missing,)).by_jobs == set()


def test_missing_input_is_reported_only_for_steps_that_need_it() -> None:
    chain = make_ended_chain(make_plan_with_parameters(), FINISHED, FAILED, FINISHED, uploaded=True)
    assert make_rerun(chain, before=BEFORE, missing=(INPUT.int,)).missing == (), (
        "no step that runs reads it"
    )
    [sentence] = make_rerun(chain, before=BEFORE, missing=(INPUT.int, FILE.int)).missing
    assert (
        sentence
        == f"step right would have to run, but {FILE_PARAMETER}, data set {FILE}, has been deleted"
    )


def make_linear_plan(**last: Any) -> Plan:
    """Return first → second → last, with the data sets 10, 11 and 12."""
    return make_plan(
        make_step("first"),
        make_step("second", Source(step="first", port="out")),
        make_step("last", Source(step="second", port="out"), **last),
        outputs=[("last", "out")],
    )


DELETED_FILES_REASON = "files of its output for step {} are deleted"


@pytest.mark.parametrize("failed_only", [False, True])
def test_unfinished_step_takes_over_its_finished_jobs_if_files_are_released(
    *, failed_only: bool
) -> None:
    """The finished jobs have read the released files; the failed jobs find theirs."""
    chain = make_ended_chain(make_linear_plan(), FINISHED, FAILED, CANCELED)
    second_chain = make_rerun(chain, released=(10, 11), failed_only=failed_only)
    assert second_chain.runs.keys() == {"second", "last"}
    assert second_chain.by_jobs == {"second", "last"}
    assert second_chain.reads == {("first", "out")}
    assert second_chain.missing == ()


def test_unfinished_step_runs_completely_if_no_files_are_released() -> None:
    second_chain = make_rerun(make_ended_chain(make_linear_plan(), FINISHED, FAILED, CANCELED))
    assert second_chain.runs.keys() == {"second", "last"}
    assert second_chain.by_jobs == set()


def test_requested_step_makes_upstream_steps_with_released_files_run_again() -> None:
    chain = make_ended_chain(make_linear_plan(), FINISHED, FINISHED, FAILED)
    second_chain = make_rerun(chain, released=(10, 11), from_step="last")
    assert second_chain.runs == {
        "first": DELETED_FILES_REASON.format("second"),
        "second": DELETED_FILES_REASON.format("last"),
        "last": "asked for",
    }
    assert second_chain.by_jobs == set()


def test_step_with_groups_makes_the_upstream_step_with_released_files_run_again() -> None:
    wf = make_linear_plan(mode=TaskMode.MERGE, groups=MergeGroups(files=3))
    second_chain = make_rerun(
        make_ended_chain(wf, FINISHED, FINISHED, FAILED), released=(11,), failed_only=True
    )
    assert second_chain.runs.keys() == {"second", "last"}
    assert second_chain.runs["second"] == DELETED_FILES_REASON.format("last")
    assert second_chain.reads == {("first", "out")}
    assert second_chain.by_jobs == set(), "the files of its finished jobs are gone"


def test_step_with_changed_parameters_makes_the_upstream_step_run_again() -> None:
    wf = make_plan(
        make_step("first"),
        make_step(
            "last", Source(step="first", port="out"), arguments={"cut": ParameterRef(name="cut")}
        ),
        outputs=[("last", "out")],
        parameters={"cut": Parameter(type="int")},
    )
    second_chain = make_rerun(
        make_ended_chain(wf, FINISHED, FAILED), released=(10,), before={"cut": 3}, after={"cut": 4}
    )
    assert second_chain.runs["first"] == DELETED_FILES_REASON.format("last")
    assert second_chain.by_jobs == set()


def test_step_with_a_new_shared_file_makes_the_upstream_step_run_again() -> None:
    """Its finished jobs used the old file and do not count."""
    side = StepInput(port="table", source=Source(step="table", port="out"), mode=InputMode.ONE)
    wf = make_plan(
        make_step("first"),
        make_step("table", single=True),
        make_step("last", Source(step="first", port="out"), sides=[side]),
        outputs=[("last", "out")],
    )
    failed_chain = make_ended_chain(wf, FINISHED, FINISHED, FAILED)
    assert make_rerun(failed_chain, released=(10,)).runs.keys() == {"last"}
    second_chain = make_rerun(failed_chain, released=(10,), missing=(11,))
    assert second_chain.runs["first"] == DELETED_FILES_REASON.format("last")
