"""Next actions of a chain: the order of steps, and the release rule (invariant 4)."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetType, StepState
from sluice.contracts.templates.plan import Plan, Retention, Source
from tests.draws import count_examples
from tests.unit.wfms.chains.plans import (
    DELETE_ALL,
    draw_plan,
    make_plan,
    make_step,
    make_three_steps,
)
from tests.unit.wfms.chains.simulation import INPUT, Simulation, make_uid
from wfms.chains.domain.chain import DatasetView
from wfms.chains.domain.graph import downstream_steps


def run_step(chain: Simulation, name: str, failed_jobs: int = 0) -> None:
    chain.start(name)
    chain.end(name, StepState.FINISHED, failed_jobs)


def test_data_sets_are_released_after_their_downstream_steps_and_the_input_last() -> None:
    chain = Simulation(make_three_steps(retention=DELETE_ALL))
    run_step(chain, "decode")
    assert chain.released_datasets == []
    run_step(chain, "filter")
    assert chain.released_datasets == [make_uid("decode", "out"), make_uid("decode", None)]
    run_step(chain, "merge")
    assert chain.released_datasets[2:] == [make_uid("filter", "out"), make_uid("filter", None)]
    assert chain.has_reached(ChainState.UPLOADING)
    assert chain.uploads == [make_uid("merge", "out")]
    chain.finish_upload(make_uid("merge", "out"))
    assert chain.has_reached(ChainState.FINISHED)
    assert chain.released_datasets[4:] == [INPUT]


def test_logs_of_a_step_with_failed_jobs_are_kept() -> None:
    chain = Simulation(make_three_steps(retention=DELETE_ALL))
    run_step(chain, "decode", failed_jobs=1)
    run_step(chain, "filter")
    chain.settle_failed_jobs()
    assert chain.released_datasets == [make_uid("decode", "out")]


@pytest.mark.parametrize("input_needed", [True, False])
def test_input_is_kept_while_another_chain_needs_it(input_needed: bool) -> None:
    chain_plan = make_plan(make_step("only"), outputs=[("only", "out")], retention=DELETE_ALL)
    chain = Simulation(chain_plan, input_needed=input_needed)
    run_step(chain, "only")
    chain.finish_upload(make_uid("only", "out"))
    assert (INPUT in chain.released_datasets) is not input_needed


def test_output_of_another_chain_used_as_input_is_never_released() -> None:
    chain = Simulation(
        make_plan(make_step("only"), outputs=[("only", "out")]), input_type=DatasetType.OUTPUT
    )
    run_step(chain, "only")
    chain.finish_upload(make_uid("only", "out"))
    assert chain.released_datasets == []


def test_input_of_a_running_step_is_kept_although_the_chain_is_failing() -> None:
    fork = make_plan(
        make_step("decode"),
        make_step("left", Source(step="decode", port="out")),
        make_step("right", Source(step="decode", port="out")),
        outputs=[("left", "out"), ("right", "out")],
    )
    chain = Simulation(fork)
    run_step(chain, "decode")
    chain.start("left")
    chain.start("right")
    chain.end("left", StepState.FAILED)
    assert chain.has_reached(ChainState.IN_PROGRESS)
    assert make_uid("decode", "out") not in chain.released_datasets
    chain.end("right", StepState.CANCELED)
    assert chain.has_reached(ChainState.FAILED)
    assert set(chain.released_datasets) == {
        make_uid("decode", "out"),
        make_uid("left", "out"),
        make_uid("right", "out"),
    }


def test_interrupted_start_is_cleaned_up_before_the_chain_ends() -> None:
    chain = Simulation(make_three_steps())
    chain.try_start("decode")
    chain.begin_ending(ChainState.CANCELED)
    assert chain.has_reached(ChainState.IN_PROGRESS)
    chain.start("decode")
    assert chain.has_reached(ChainState.CANCELED)
    assert chain.released_datasets == [make_uid("decode", "out"), make_uid("decode", None)]
    assert chain.started_steps == []


def test_failed_upload_keeps_outputs_input_and_logs() -> None:
    chain = Simulation(
        make_plan(make_step("only"), outputs=[("only", "out")], retention=DELETE_ALL)
    )
    run_step(chain, "only")
    chain.begin_ending(ChainState.FAILED)
    assert chain.has_reached(ChainState.FAILED)
    assert chain.released_datasets == []


@pytest.mark.parametrize("within_retention", [True, False])
def test_chain_canceled_during_upload_releases_outputs_that_are_not_uploaded(
    within_retention: bool,
) -> None:
    ends = [("left", "out"), ("right", "out"), ("used", "out")]
    chain = Simulation(
        make_plan(*(make_step(name) for name, _ in ends), outputs=ends, retention=DELETE_ALL)
    )
    chain.view = replace(
        chain.view, within_retention=within_retention, used=frozenset({make_uid("used", "out")})
    )
    for name, _ in ends:
        run_step(chain, name)
    chain.finish_upload(make_uid("left", "out"))
    assert chain.has_reached(ChainState.UPLOADING)
    chain.begin_ending(ChainState.CANCELED)
    assert chain.has_reached(ChainState.CANCELED)
    assert chain.released_datasets == [make_uid("right", "out")]
    chain.finish_upload(make_uid("right", "out"))
    assert chain.has_reached(ChainState.CANCELED)
    assert chain.released_datasets == [make_uid("right", "out")]


def check_released(chain: Simulation) -> None:
    """Check that no data set is released twice or while a step still needs it."""
    assert len(chain.released_datasets) == len(set(chain.released_datasets))
    for dataset in chain.view.datasets:
        if dataset.uid not in chain.released_datasets:
            continue
        if dataset.step is None:
            assert chain.has_reached(ChainState.FINISHED) or chain.view.keeps_nothing
            continue
        assert chain.view.steps[dataset.step].state.final
        if dataset.port is not None:
            assert all(
                chain.view.steps[downstream.name].state.final
                for downstream in downstream_steps(chain.plan, dataset.step, dataset.port)
            )
    if INPUT in chain.released_datasets:
        assert chain.released_datasets[-1] == INPUT


def check_failures_can_run_again(chain: Simulation) -> None:
    """Check that the inputs and outputs of steps with failed jobs are kept."""
    failed = {name for name, step in chain.view.steps.items() if step.failed_jobs}
    if not failed:
        return
    assert INPUT not in chain.released_datasets
    for name in failed:
        read = chain.plan.step(name).sources
        touched = {make_uid(str(source.step), source.port) for source in read if source.step}
        touched |= {make_uid(name, output.port) for output in chain.plan.step(name).outputs}
        assert touched.isdisjoint(chain.released_datasets)


def test_inputs_of_failed_jobs_are_kept_until_a_person_decides() -> None:
    chain = Simulation(make_three_steps(retention=DELETE_ALL))
    passing_dataset = UUID(int=2)
    chain.view = replace(
        chain.view,
        disposable_files=frozenset({passing_dataset}),
        datasets=[
            *chain.view.datasets,
            DatasetView(passing_dataset, None, "table", ChainDatasetStatus.READY),
        ],
    )
    run_step(chain, "decode")
    chain.start("filter")
    chain.end("filter", StepState.FINISHED, failed_jobs=1)
    run_step(chain, "merge")
    chain.finish_upload(make_uid("merge", "out"))
    assert chain.has_reached(ChainState.FINISHED)
    assert chain.released_datasets == []
    chain.settle_failed_jobs()
    assert set(chain.released_datasets) == {
        make_uid("decode", "out"),
        make_uid("decode", None),
        make_uid("filter", "out"),
        INPUT,
        passing_dataset,
    }, "only the logs of the step with a failed job are kept"


@pytest.mark.parametrize(
    ("deletes_only_copies", "copied", "is_deleted"),
    [(True, False, True), (False, True, True), (False, False, False)],
)
def test_last_replica_of_the_input_is_deleted_only_if_the_template_says_so(
    deletes_only_copies: bool, copied: bool, is_deleted: bool
) -> None:
    retention = Retention(only_copies=deletes_only_copies)
    chain_plan = make_plan(make_step("only"), outputs=[("only", "out")], retention=retention)
    chain = Simulation(chain_plan, input_copied=copied)
    run_step(chain, "only")
    chain.finish_upload(make_uid("only", "out"))
    assert chain.has_reached(ChainState.FINISHED)
    assert (INPUT in chain.released_datasets) is is_deleted


def check_discarded(chain: Simulation) -> None:
    """Check that a discarded chain keeps only logs of failed jobs and an input to be kept."""
    for dataset in chain.view.datasets:
        if dataset.step is None:
            is_kept = chain.plan.retention.input == "keep"
        else:
            step = chain.view.steps[dataset.step]
            is_kept = dataset.port is None and step.sent and step.failed_jobs > 0
        assert (dataset.uid in chain.released_datasets) is not is_kept, dataset


def test_output_of_a_discarded_chain_is_kept_while_another_chain_reads_it() -> None:
    chain = Simulation(
        make_plan(make_step("only"), outputs=[("only", "out")], retention=DELETE_ALL)
    )
    chain.view = replace(chain.view, used=frozenset({make_uid("only", "out")}))
    chain.discard()
    run_step(chain, "only")
    chain.finish_upload(make_uid("only", "out"))
    assert chain.has_reached(ChainState.FINISHED)
    assert chain.released_datasets == [make_uid("only", None), INPUT]
    chain.view = replace(chain.view, used=frozenset())
    chain.discard()
    assert chain.released_datasets[-1] == make_uid("only", "out")


@settings(max_examples=count_examples(300))
@given(chain_plan=draw_plan(), data=st.data())
def test_random_chain_without_failures_finishes_and_releases_its_data_sets(
    chain_plan: Plan, data: st.DataObject
) -> None:
    chain = Simulation(chain_plan)
    while chain.state is ChainState.IN_PROGRESS:
        possible = [("start", name) for name in chain.list_steps(StepState.STARTING)]
        possible += [("end", name) for name in chain.list_steps(StepState.IN_PROGRESS)]
        event, name = data.draw(st.sampled_from(possible))
        if event == "start":
            starting = chain_plan.step(name)
            started_states = [StepState.FINISHED]
            if starting.can_stream:
                started_states.append(StepState.IN_PROGRESS)
            source = starting.main_input.source.step
            assert source is None or chain.view.steps[source].state in started_states
            chain.start(name)
        else:
            chain.end(name, StepState.FINISHED, data.draw(st.integers(0, 1)))
        check_released(chain)
    assert sorted(chain.started_steps) == sorted(step.name for step in chain_plan.steps), (
        "a step did not start exactly once"
    )
    assert set(chain.uploads) == chain.output_uids()
    safe: set[UUID] = set()
    for uid in data.draw(st.permutations(chain.uploads)):
        assert chain.has_reached(ChainState.UPLOADING)
        assert INPUT not in chain.released_datasets
        if data.draw(st.integers(0, 9)) == 0:
            chain.begin_ending(ChainState.CANCELED)
            assert chain.has_reached(ChainState.CANCELED)
            assert INPUT not in chain.released_datasets
            assert chain.output_uids() - set(chain.released_datasets) == safe, (
                "uploaded outputs must be kept"
            )
            return
        chain.finish_upload(uid)
        safe.add(uid)
    assert chain.has_reached(ChainState.FINISHED)
    check_released(chain)
    check_failures_can_run_again(chain)
    chain.settle_failed_jobs()
    check_released(chain)
    between = {
        dataset.uid
        for dataset in chain.view.datasets
        if dataset.step is not None and dataset.port is not None
    }
    assert between - set(chain.released_datasets) == chain.output_uids(), (
        "all data sets but the outputs must be released"
    )
    assert (INPUT in chain.released_datasets) is (chain_plan.retention.input == "delete")
    chain.discard()
    check_discarded(chain)


@settings(max_examples=count_examples(300))
@given(chain_plan=draw_plan(), data=st.data())
def test_random_chain_with_failures_ends_and_releases_its_data_sets(
    chain_plan: Plan, data: st.DataObject
) -> None:
    chain = Simulation(chain_plan)
    while chain.state is ChainState.IN_PROGRESS:
        possible = [("start", name) for name in chain.list_steps(StepState.STARTING)]
        possible += [
            ("try", name)
            for name in chain.list_steps(StepState.STARTING)
            if not chain.view.steps[name].tried
        ]
        possible += [
            (end, name)
            for name in chain.list_steps(StepState.IN_PROGRESS)
            for end in ("finished", "failed", "canceled")
        ]
        event, name = data.draw(st.sampled_from([*possible, ("cancel", ""), ("discard", "")]))
        match event:
            case "discard":
                chain.discard()
            case "start":
                chain.start(name)
            case "try":
                chain.try_start(name)
            case "cancel":
                chain.begin_ending(ChainState.CANCELED)
                possible = []
            case end:
                chain.end(name, StepState(end))
        check_released(chain)
    if chain.state is ChainState.UPLOADING:
        return
    assert chain.state is chain.view.ending
    if chain.view.discarded:
        check_discarded(chain)
        return
    assert INPUT not in chain.released_datasets
    between = {
        dataset.uid
        for dataset in chain.view.datasets
        if dataset.step is not None and dataset.port is not None
    }
    assert between <= set(chain.released_datasets), (
        "a failed chain must release its intermediate data sets"
    )
    assert len(chain.started_steps) == len(set(chain.started_steps))
