"""What a rerun does, rule by rule, with the reasons that it tells."""

from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.plan import (
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
from sluice.contracts.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetType,
    InputMode,
    Pick,
    StepState,
    TaskMode,
)
from tests.unit.wfms.chains.plans import DATA, plan, step, three_steps
from wfms.chains.domain.chain import ChainView, DatasetView, StepView
from wfms.chains.domain.rerun import (
    NOT_UPLOADED,
    NoSuchStep,
    NothingFailed,
    Rerun,
    RerunRequest,
    TwoBeginnings,
    plan_rerun,
)

CHAIN, INPUT, FILE, OTHER = (UUID(int=number) for number in range(1, 5))
FINISHED, FAILED, CANCELED = StepState.FINISHED, StepState.FAILED, StepState.CANCELED


def over(
    wf: Plan, *states: StepState, uploaded: bool = False, sent: bool = True, failed_jobs: int = 0
) -> ChainView:
    """A chain of this plan that has ended, its steps so; each has written all its outputs."""
    steps = [StepView(state, tried=True, sent=sent, failed_jobs=failed_jobs) for state in states]
    ports = [(step.name, output.port) for step in wf.steps for output in step.outputs]
    done = set(states) == {FINISHED}
    return ChainView(
        plan=wf,
        state=ChainState.FINISHED if done else ChainState.FAILED,
        ending=None if done else ChainState.FAILED,
        upload_asked=done,
        input_type=DatasetType.INPUT,
        input_kept=False,
        steps={planned.name: view for planned, view in zip(wf.steps, steps, strict=True)},
        datasets=[
            DatasetView(UUID(int=number), name, port, ChainDatasetStatus.READY, uploaded)
            for number, (name, port) in enumerate(ports, 10)
        ],
    )


def rerun(
    chain: ChainView,
    *,
    lacking: tuple[int, ...] = (),
    released: tuple[int, ...] = (),
    before: Any = None,
    after: Any = None,
    **wish: Any,
) -> Rerun:
    """``lacking``: data sets, by the number of their uid, that are not there any more;
    ``released``: those that have files which are not."""
    there = {INPUT, FILE, *(dataset.uid for dataset in chain.datasets)} - {
        UUID(int=number) for number in lacking
    }
    return plan_rerun(
        chain,
        RerunRequest(CHAIN, INPUT, before or {}, after or before or {}, **wish),
        there=there,
        released={UUID(int=number) for number in released},
    )


def given(uid: UUID) -> dict[str, Any]:
    return {"class": "File", "dataset": str(uid)}


def with_parameters() -> Plan:
    """left has the parameter ``cut``, right reads the file ``masks``; last reads left."""
    return plan(
        step("left", arguments={"cut": ParameterRef(name="cut")}),
        step("right", Source(step=None, port="masks")),
        step("last", Source(step="left", port="out")),
        outputs=[("last", "out"), ("right", "out")],
        parameters={"cut": Parameter(type="int"), "masks": Parameter(type="File")},
    )


BEFORE = {"cut": 3, "masks": given(FILE)}
THE_FILE = "the file that is its parameter masks"


def test_where_all_finished_everything_runs_again() -> None:
    assert rerun(
        over(three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True)
    ).runs == dict.fromkeys(("decode", "filter", "merge"), "asked for")


@pytest.mark.parametrize(
    ("after", "runs"),
    [
        ({"cut": 4}, {"left": "it has other parameters", "last": "it reads what step left writes"}),
        ({"masks": given(OTHER)}, {"right": "it has other parameters"}),
    ],
)
def test_other_parameters_have_those_run_that_have_them(
    after: dict[str, Any], runs: dict[str, str]
) -> None:
    chain = over(with_parameters(), FINISHED, FINISHED, FINISHED, uploaded=True)
    assert rerun(chain, before=BEFORE, after=BEFORE | after).runs == runs
    with_jobs = over(with_parameters(), FINISHED, FINISHED, FINISHED, uploaded=True, failed_jobs=1)
    again = rerun(with_jobs, before=BEFORE, after=BEFORE | after, failed_only=True)
    assert again.by_jobs == again.runs.keys() - {
        name for name, why in runs.items() if "parameters" in why
    }


def test_that_parameters_are_others_is_said_before_that_jobs_failed() -> None:
    chain = over(with_parameters(), FINISHED, FINISHED, FINISHED, uploaded=True, failed_jobs=1)
    again = rerun(chain, before=BEFORE, after=BEFORE | {"cut": 4}, failed_only=True)
    assert again.runs["left"] == "it has other parameters"
    assert again.runs["right"] == "1 of its jobs failed"


def test_a_step_that_was_asked_for_is_one_of_the_chain_and_the_only_beginning() -> None:
    chain = over(three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True)
    assert rerun(chain, from_step="decode").runs["merge"] == "it reads what step filter writes"
    assert rerun(chain, from_step="filter").runs == {
        "filter": "asked for",
        "merge": "it reads what step filter writes",
    }
    with pytest.raises(NoSuchStep, match="no step 'x'; it has decode, filter, merge"):
        rerun(chain, from_step="x")
    with pytest.raises(TwoBeginnings):
        rerun(chain, from_step="filter", failed_only=True)
    with pytest.raises(NothingFailed):
        rerun(chain, failed_only=True)
    some = over(three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True, failed_jobs=2)
    assert rerun(some, failed_only=True).runs["filter"] == "2 of its jobs failed"


def test_what_did_not_finish_runs_whatever_was_asked_for() -> None:
    chain = over(three_steps(), FINISHED, CANCELED, CANCELED)
    assert rerun(chain, from_step="merge").runs == {
        "filter": "it was canceled, or never began",
        "merge": "asked for",
    }


def test_what_is_taken_over_is_read_or_an_output_of_both() -> None:
    chain = over(with_parameters(), FAILED, FINISHED, CANCELED, uploaded=True)
    assert rerun(chain, before=BEFORE).reads == {("right", "out")}
    chain = over(three_steps(), FINISHED, FINISHED, FAILED)
    assert rerun(chain).reads == {("filter", "out")}
    assert rerun(chain, from_step="filter").reads == {("decode", "out")}, (
        "what runs is not taken over"
    )


def test_what_is_gone_is_made_again_from_the_nearest_that_is_there() -> None:
    chain = over(three_steps(), FINISHED, FINISHED, FAILED)
    assert rerun(chain, lacking=(10,)).runs == {"merge": "it failed"}
    assert rerun(chain, lacking=(10, 11)).runs == {
        "decode": "what it wrote for step filter is not there any more",
        "filter": "what it wrote for step merge is not there any more",
        "merge": "it failed",
    }
    finished = over(three_steps(), FINISHED, FINISHED, FINISHED, uploaded=True)
    assert rerun(finished, from_step="merge", lacking=(12,)).runs == {"merge": "asked for"}
    parted = over(with_parameters(), FINISHED, FAILED, FINISHED, uploaded=True)
    assert (
        rerun(parted, before=BEFORE, lacking=(12,)).runs["last"]
        == "its output is not there any more"
    )


ONE = plan(step("only"), outputs=[("only", "out")])
BESIDE = step("beside")


def only(**more: Any) -> PlanStep:
    return step("only").model_copy(update=more)


@pytest.mark.parametrize(
    ("one", "sent", "jobs"),
    [
        (only(), True, True),
        (only(), False, False),
        (only(mode=TaskMode.MERGE), True, False),
        (only(batch=Batch(files=2)), True, False),
        (only(single=True), True, False),
        (step("only", pick=Pick.FIRST), True, False),
        (only(outputs=[StepOutput(port="out", spread=True)]), True, False),
    ],
)
def test_jobs_are_taken_over_where_each_has_a_number_and_outputs_of_its_own(
    one: PlanStep, sent: bool, jobs: bool
) -> None:
    chain = over(ONE.model_copy(update={"steps": [one, BESIDE]}), FINISHED, FAILED, sent=sent)
    again = rerun(chain)
    assert again.runs["only"] == NOT_UPLOADED
    assert again.by_jobs == ({"only"} if jobs else set())


def test_of_a_failed_step_jobs_are_taken_over_only_where_that_was_asked_for() -> None:
    chain = over(ONE, FAILED)
    assert rerun(chain).by_jobs == set()
    assert rerun(chain, failed_only=True).by_jobs == {"only"}


def test_jobs_are_taken_over_only_where_all_that_they_wrote_is_there() -> None:
    chain = over(plan(step("only", DATA, "a", "b"), outputs=[("only", "a")]), FAILED)
    assert rerun(chain, failed_only=True).by_jobs == {"only"}
    for lacking in (10, 11):
        assert rerun(chain, failed_only=True, lacking=(lacking,)).by_jobs == set()


def test_what_cannot_be_had_is_told_of_steps_that_need_it_alone() -> None:
    chain = over(with_parameters(), FINISHED, FAILED, FINISHED, uploaded=True)
    assert rerun(chain, before=BEFORE, lacking=(INPUT.int,)).missing == (), (
        "nothing that runs reads it"
    )
    [sentence] = rerun(chain, before=BEFORE, lacking=(INPUT.int, FILE.int)).missing
    assert (
        sentence
        == f"step right would have to run, and {THE_FILE}, data set {FILE}, has been deleted"
    )


def line(**last: Any) -> Plan:
    """first → second → last, each reading the one before: data sets 10, 11 and 12."""
    return plan(
        step("first"),
        step("second", Source(step="first", port="out")),
        step("last", Source(step="second", port="out"), **last),
        outputs=[("last", "out")],
    )


GONE = "of what it wrote for step {} files are deleted"


@pytest.mark.parametrize("failed_only", [False, True])
def test_where_files_are_gone_a_step_that_did_not_finish_takes_its_finished_jobs_over(
    *, failed_only: bool
) -> None:
    """What is gone they have read; those that failed find theirs."""
    chain = over(line(), FINISHED, FAILED, CANCELED)
    again = rerun(chain, released=(10, 11), failed_only=failed_only)
    assert again.runs.keys() == {"second", "last"}
    assert again.by_jobs == {"second", "last"}
    assert again.reads == {("first", "out")}
    assert again.missing == ()


def test_without_files_gone_it_runs_as_a_whole() -> None:
    again = rerun(over(line(), FINISHED, FAILED, CANCELED))
    assert again.runs.keys() == {"second", "last"}
    assert again.by_jobs == set()


def test_a_step_that_is_asked_for_needs_all_files_so_those_before_run_again() -> None:
    chain = over(line(), FINISHED, FINISHED, FAILED)
    again = rerun(chain, released=(10, 11), from_step="last")
    assert again.runs == {
        "first": GONE.format("second"),
        "second": GONE.format("last"),
        "last": "asked for",
    }
    assert again.by_jobs == set()


def test_a_step_that_makes_groups_needs_all_files_so_the_one_before_runs_again() -> None:
    wf = line(mode=TaskMode.MERGE, groups=MergeGroups(files=3))
    again = rerun(over(wf, FINISHED, FINISHED, FAILED), released=(11,), failed_only=True)
    assert again.runs.keys() == {"second", "last"}
    assert again.runs["second"] == GONE.format("last")
    assert again.reads == {("first", "out")}
    assert again.by_jobs == set(), "its finished jobs gave files that are gone"


def test_a_step_with_other_parameters_needs_all_files() -> None:
    wf = plan(
        step("first"),
        step("last", Source(step="first", port="out"), arguments={"cut": ParameterRef(name="cut")}),
        outputs=[("last", "out")],
        parameters={"cut": Parameter(type="int")},
    )
    again = rerun(over(wf, FINISHED, FAILED), released=(10,), before={"cut": 3}, after={"cut": 4})
    assert again.runs["first"] == GONE.format("last")
    assert again.by_jobs == set()


def test_who_gets_another_file_for_all_jobs_needs_all_files() -> None:
    """Its finished jobs do not count then."""
    side = StepInput(port="table", source=Source(step="table", port="out"), mode=InputMode.ONE)
    wf = plan(
        step("first"),
        step("table", single=True),
        step("last", Source(step="first", port="out"), sides=[side]),
        outputs=[("last", "out")],
    )
    kept = over(wf, FINISHED, FINISHED, FAILED)
    assert rerun(kept, released=(10,)).runs.keys() == {"last"}
    again = rerun(kept, released=(10,), lacking=(11,))
    assert again.runs["first"] == GONE.format("last")
