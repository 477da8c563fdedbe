"""Properties of reruns for any plan, any end of its chain, and any data that is left."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetType, StepState
from sluice.contracts.templates.plan import Plan
from tests.unit.wfms.chains.plans import draw_plan
from wfms.chains.domain.chain import ChainView, DatasetView, StepView
from wfms.chains.domain.graph import downstream_steps, output_ports
from wfms.chains.domain.rerun import NOT_UPLOADED, NoFailedJobs, Rerun, RerunRequest, plan_rerun

CHAIN, INPUT = UUID(int=1), UUID(int=2)
READY = ChainDatasetStatus.READY


@st.composite
def draw_ended_chain(draw: st.DrawFn) -> ChainView:
    """Draw an ended chain, in which a finished step has only finished sources."""
    plan = draw(draw_plan())
    steps: dict[str, StepView] = {}
    while len(steps) < len(plan.steps):
        for step in plan.steps:
            before = [steps.get(source.step) for source in step.sources if source.step is not None]
            if step.name in steps or None in before:
                continue
            can = all(
                earlier is not None and earlier.state is StepState.FINISHED for earlier in before
            )
            states = (
                [StepState.FINISHED, StepState.FAILED, StepState.CANCELED]
                if can
                else [StepState.CANCELED]
            )
            steps[step.name] = StepView(
                draw(st.sampled_from(states)),
                tried=can,
                sent=can,
                failed_jobs=draw(st.integers(0, 1)),
            )
    ports = [
        (step.name, output.port)
        for step in plan.steps
        for output in step.outputs
        if steps[step.name].sent
    ]
    datasets = [
        DatasetView(UUID(int=number), name, port, READY, uploaded=draw(st.booleans()))
        for number, (name, port) in enumerate(ports, 10)
    ]
    all_finished = all(step.state is StepState.FINISHED for step in steps.values())
    return ChainView(
        plan=plan,
        state=ChainState.FINISHED if all_finished else ChainState.FAILED,
        ending=None if all_finished else ChainState.FAILED,
        upload_requested=all_finished,
        input_type=DatasetType.INPUT,
        input_needed=False,
        steps=steps,
        datasets=datasets,
    )


def list_downstream_steps(plan: Plan, name: str) -> set[str]:
    step = plan.step(name)
    direct = {
        downstream.name
        for output in step.outputs
        for downstream in downstream_steps(plan, name, output.port)
    }
    return direct.union(*(list_downstream_steps(plan, follower) for follower in direct))


def make_rerun(
    chain: ChainView,
    existing_datasets: set[UUID],
    *,
    from_step: str | None,
    failed_only: bool,
    released: frozenset[UUID] = frozenset(),
) -> Rerun | None:
    request = RerunRequest(CHAIN, INPUT, {}, {}, from_step, failed_only)
    try:
        return plan_rerun(chain, request, readable=existing_datasets, released_datasets=released)
    except NoFailedJobs:
        assert failed_only
        assert chain.ending is None
        return None


@given(draw_ended_chain(), st.data())
def test_each_step_of_a_rerun_finds_its_inputs_and_each_output_exists(
    chain: ChainView, data: st.DataObject
) -> None:
    existing_datasets = set(
        data.draw(st.lists(st.sampled_from([INPUT, *(dataset.uid for dataset in chain.datasets)])))
    )
    failed_only = data.draw(st.booleans())
    from_step = None if failed_only else data.draw(st.sampled_from([None, *chain.steps]))
    rerun = make_rerun(chain, existing_datasets, from_step=from_step, failed_only=failed_only)
    if rerun is None:
        return
    datasets_by_port = {(dataset.step, dataset.port): dataset for dataset in chain.datasets}
    for name in rerun.runs:
        for source in chain.plan.step(name).sources:
            if source.step is None:
                assert INPUT in existing_datasets or rerun.missing
            elif source.step not in rerun.runs:
                assert datasets_by_port[source.step, source.port].uid in existing_datasets
                assert (source.step, source.port) in rerun.reads
    for name, port in output_ports(chain.plan):
        assert name in rerun.runs or (
            datasets_by_port[name, port].uid in existing_datasets
            and datasets_by_port[name, port].uploaded
        )
    for name, step in chain.steps.items():
        assert name in rerun.runs or step.state is StepState.FINISHED
        if name in rerun.by_jobs:
            assert all(
                datasets_by_port[name, output.port].uid in existing_datasets
                for output in chain.plan.step(name).outputs
            )
    if from_step is not None:
        assert {from_step} | list_downstream_steps(chain.plan, from_step) <= rerun.runs.keys()
    if rerun.missing:
        assert INPUT not in existing_datasets


@given(draw_ended_chain())
def test_rerun_of_failures_runs_no_other_steps_if_all_data_exist(chain: ChainView) -> None:
    existing_datasets = {INPUT, *(dataset.uid for dataset in chain.datasets)}
    rerun = make_rerun(chain, existing_datasets, from_step=None, failed_only=True)
    if rerun is None:
        return
    failed = {
        name
        for name, step in chain.steps.items()
        if step.state is not StepState.FINISHED or step.failed_jobs
    }
    rerun_steps = failed.union(*(list_downstream_steps(chain.plan, name) for name in failed))
    waiting = {
        str(dataset.step)
        for dataset in chain.datasets
        if (dataset.step, dataset.port) in output_ports(chain.plan) and not dataset.uploaded
    }
    assert set(rerun.runs) == rerun_steps | waiting
    assert rerun.missing == ()


@given(draw_ended_chain(), st.data())
def test_rerun_never_waits_for_released_files(chain: ChainView, data: st.DataObject) -> None:
    """Invariant 4: steps that would need released files take over their finished jobs."""
    uids = {dataset.uid for dataset in chain.datasets}
    released = data.draw(st.sets(st.sampled_from(sorted(uids)))) if uids else set()
    failed_only = data.draw(st.booleans())
    from_step = None if failed_only else data.draw(st.sampled_from([None, *chain.steps]))
    rerun = make_rerun(
        chain,
        {INPUT, *uids},
        from_step=from_step,
        failed_only=failed_only,
        released=frozenset(released),
    )
    if rerun is None:
        return
    assert rerun.missing == ()
    places = {(d.step, d.port) for d in chain.datasets if d.uid in released}
    #: Data sets of the rerun that may lack files.
    missing_inputs = {
        place for place in places if place[0] not in rerun.runs or place[0] in rerun.by_jobs
    }
    for name in rerun.runs:
        sources = chain.plan.step(name).sources
        if any((source.step, source.port) in missing_inputs for source in sources):
            assert name in rerun.by_jobs
            assert all(
                source.step is None or source.step not in rerun.runs or source.step in rerun.by_jobs
                for source in sources
            )


@given(draw_ended_chain())
def test_rerun_takes_over_jobs_only_for_uploads_if_no_files_are_released(chain: ChainView) -> None:
    existing_datasets = {INPUT, *(dataset.uid for dataset in chain.datasets)}
    for failed_only in (False, True):
        rerun = make_rerun(chain, existing_datasets, from_step=None, failed_only=failed_only)
        if rerun is not None and not failed_only:
            assert {rerun.runs[name] for name in rerun.by_jobs} <= {NOT_UPLOADED}
