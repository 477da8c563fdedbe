"""The plan of a rerun: which steps run again, which are taken over, and what is missing.

A step is taken over with the data sets that it wrote, which then belong to both chains. A step that
runs again reads such data sets, or those of other steps that run. Where a data set that it would
read is gone, the step that wrote it runs again too, and so on up to the first input. Steps whose
outputs are not on the output storage run again too. Jobs of these steps, and with ``failed_only``
of all steps, are taken over one by one. This needs unchanged dependencies and jobs with their own
outputs: a map with one entry per job.

Files of an intermediate data set may be released: deleted, because all jobs that read them have
finished. A step that surely takes over its finished jobs one by one does not need them. So a step
that did not finish takes over its jobs unasked. For any other step, the step that wrote the files
runs again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.common.states import StepState, TaskMode
from sluice.contracts.templates.plan import Plan, PlanStep, Source
from sluice.text.visible_text import quoted
from wfms.chains.domain.chain import ChainView
from wfms.chains.domain.graph import downstream_steps, output_ports
from wfms.chains.domain.parameters import arguments, given_files


class NoSuchStep(Unprocessable):
    """The chain has no step of this name."""

    def __init__(self, plan: Plan, step: str) -> None:
        super().__init__(
            f"the chain has no step {quoted(step)}; it has"
            f" {', '.join(step.name for step in plan.steps)}",
            step=step,
        )


class ConflictingRerunOptions(Unprocessable):
    """A rerun was asked for both a first step and the failed jobs."""

    def __init__(self) -> None:
        super().__init__(
            "a rerun starts either at a step or with failed jobs: leave out the step or failed_only"
        )


class NoFailedJobs(Conflict):
    """Only failed jobs were to run again, and all jobs finished."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"no job of chain {uid} failed, and all its steps finished: there is nothing to run"
            " again",
            uid=uid,
        )


#: (step, port) of a data set.
Place = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class RerunRequest:
    """The request of a rerun.

    Attributes:
        chain: The chain to run again.
        input: Its first input.
        before: All parameter values of the chain.
        params: All parameter values of the rerun.
        from_step: The step at which the rerun begins.
        failed_only: Only failed jobs run again.
    """

    chain: UUID
    input: UUID
    before: Mapping[str, Any]
    params: Mapping[str, Any]
    from_step: str | None = None
    failed_only: bool = False


@dataclass(frozen=True, slots=True)
class Rerun:
    """The plan of a rerun.

    Attributes:
        runs: Steps that run, with the reason for each.
        by_jobs: Those of them that take over finished jobs.
        reads: Data sets of the chain that are needed, by step and port: outputs of steps that are
            taken over.
        missing: Sentences that say which data is no longer available.
    """

    runs: Mapping[str, str]
    by_jobs: frozenset[str]
    reads: frozenset[tuple[str, str]]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _RerunData:
    """Data sets that can be read.

    Those in ``safe_places`` are on the output storage. Some files of those in ``released_places``
    are deleted.
    """

    existing_places: frozenset[Place]
    safe_places: frozenset[Place]
    released_places: frozenset[Place]


def plan_rerun(
    chain: ChainView,
    request: RerunRequest,
    *,
    readable: Collection[UUID],
    released_datasets: Collection[UUID] = (),
) -> Rerun:
    """Return what a rerun of the chain does.

    Args:
        chain: The chain to run again.
        request: The request.
        readable: Data sets that can be read. The first input and files given as parameters are
            among them.
        released_datasets: Those of them that have released files.

    Raises:
        NoSuchStep: The chain does not have the step to begin at.
        ConflictingRerunOptions: Both a step and failed jobs were asked for.
        NoFailedJobs: Only failed jobs were asked for, and none failed.
    """
    plan = chain.plan
    changed = _find_changed_steps(plan, request)
    runs = _steps_to_run(chain, request, changed_steps=changed)
    datasets_by_place = {
        (str(dataset.step), dataset.port): dataset
        for dataset in chain.datasets
        if dataset.step is not None and dataset.port is not None
    }
    existing = frozenset(
        place for place, dataset in datasets_by_place.items() if dataset.uid in readable
    )
    data = _RerunData(
        existing,
        safe_places=frozenset(place for place in existing if datasets_by_place[place].uploaded),
        released_places=frozenset(
            place for place in existing if datasets_by_place[place].uid in released_datasets
        ),
    )
    by_jobs = _steps_by_jobs(chain, request, runs, changed_steps=changed, data=data)
    while more_steps := _more_steps_to_run(plan, runs, by_jobs=by_jobs, data=data):
        runs |= more_steps
        by_jobs = _steps_by_jobs(chain, request, runs, changed_steps=changed, data=data)
    reads = {
        (source.step, source.port)
        for step in plan.steps
        if step.name in runs
        for source in step.sources
        if source.step is not None and source.step not in runs
    }
    return Rerun(
        runs={step.name: runs[step.name] for step in plan.steps if step.name in runs},
        by_jobs=by_jobs.all,
        reads=frozenset(reads | {place for place in output_ports(plan) if place[0] not in runs}),
        missing=tuple(_missing(chain.plan, request, runs, readable=readable)),
    )


NOT_UPLOADED = "its output is not on the output storage"


@dataclass(frozen=True, slots=True)
class _PartialSteps:
    """Steps that take over finished jobs.

    ``sure`` ones take over all jobs that finished, so they do not need the files that these read.
    """

    all: frozenset[str]
    sure: frozenset[str]


def _steps_by_jobs(
    chain: ChainView,
    request: RerunRequest,
    runs: Mapping[str, str],
    *,
    changed_steps: Collection[str],
    data: _RerunData,
) -> _PartialSteps:
    plan = chain.plan
    candidates = {
        step.name
        for step in plan.steps
        if step.name in runs
        and step.name not in changed_steps
        and (
            request.failed_only
            or runs[step.name] == NOT_UPLOADED
            or (request.from_step is None and _lacks_files(chain, step, data))
        )
        and _has_jobs(chain, step)
        and all((step.name, output.port) in data.existing_places for output in step.outputs)
    }
    sure = set(candidates)
    while unsure := {name for name in sure if not _is_sure(plan, name, runs, sure=sure, data=data)}:
        sure -= unsure
    with_all_files = {
        name
        for name in candidates
        if all(
            (name, output.port) not in data.released_places for output in plan.step(name).outputs
        )
    }
    return _PartialSteps(frozenset(sure | with_all_files), frozenset(sure))


def _lacks_files(chain: ChainView, step: PlanStep, data: _RerunData) -> bool:
    """Return whether the step did not finish and lacks files that it would read as a whole."""
    return chain.steps[step.name].state is not StepState.FINISHED and any(
        source.step is not None and (source.step, source.port) in data.released_places
        for source in step.sources
    )


def _is_sure(
    plan: Plan, name: str, runs: Collection[str], *, sure: Collection[str], data: _RerunData
) -> bool:
    """Return whether the step's finished jobs find their inputs unchanged.

    The steps that read its released files must not need these files either.
    """
    step = plan.step(name)
    same_inputs = all(
        source.step not in runs or (step_input in step.streamed_inputs and source.step in sure)
        for step_input in step.inputs
        for source in step_input.sources
    )
    return same_inputs and all(
        downstream.name in sure
        for output in step.outputs
        if (name, output.port) in data.released_places
        for downstream in downstream_steps(plan, name, output.port)
    )


def _find_changed_steps(plan: Plan, request: RerunRequest) -> set[str]:
    """Return the steps whose own arguments, or files given as parameters, have changed."""
    files = {
        Source(step=None, port=name)
        for name in plan.file_parameters
        if request.before.get(name) != request.params.get(name)
    }
    return {
        step.name
        for step in plan.steps
        if arguments(plan, step, request.before) != arguments(plan, step, request.params)
        or not files.isdisjoint(step.sources)
    }


def _steps_to_run(
    chain: ChainView, request: RerunRequest, *, changed_steps: set[str]
) -> dict[str, str]:
    unfinished = {
        name: f"it {_ENDED[step.state]}"
        for name, step in chain.steps.items()
        if step.state is not StepState.FINISHED
    }
    first = dict.fromkeys(sorted(changed_steps), "it has other parameters")
    if request.from_step is not None:
        if request.failed_only:
            raise ConflictingRerunOptions
        if request.from_step not in chain.steps:
            raise NoSuchStep(chain.plan, request.from_step)
        first[request.from_step] = "asked for"
    elif request.failed_only:
        first = {
            name: f"{step.failed_jobs} of its jobs failed"
            for name, step in chain.steps.items()
            if step.failed_jobs
        } | first
        if not (first or unfinished):
            raise NoFailedJobs(request.chain)
    elif not (unfinished or changed_steps):
        first |= dict.fromkeys(chain.steps, "asked for")
    runs = unfinished | first
    return _add_downstream_steps(chain.plan, runs)


_ENDED = {
    StepState.FAILED: "failed",
    StepState.CANCELED: "was canceled, or never began",
    StepState.PENDING: "never began",
    StepState.STARTING: "never began",
    StepState.IN_PROGRESS: "did not end",
    StepState.FINISHED: "finished",
}


def _add_downstream_steps(plan: Plan, runs: Mapping[str, str]) -> dict[str, str]:
    steps_to_run = dict(runs)
    grown = True
    while grown:
        followers = {
            step.name: f"it reads the output of step {source.step}"
            for step in plan.steps
            if step.name not in steps_to_run
            for source in step.sources
            if source.step in steps_to_run
        }
        steps_to_run |= followers
        grown = bool(followers)
    return steps_to_run


def _more_steps_to_run(
    plan: Plan,
    runs: Mapping[str, str],
    *,
    by_jobs: _PartialSteps,
    data: _RerunData,
) -> dict[str, str]:
    """Return the steps that must run because their output is needed and cannot be taken over."""
    reasons: dict[str, str] = {}
    for step in plan.steps:
        for source in step.sources if step.name in runs else []:
            if source.step is None or source.step in runs:
                continue
            place = source.step, source.port
            if place not in data.existing_places:
                reasons[source.step] = f"its output for step {step.name} is no longer there"
            elif place in data.released_places and step.name not in by_jobs.sure:
                reasons[source.step] = f"files of its output for step {step.name} are deleted"
    for name, port in output_ports(plan):
        if name not in runs and (name, port) not in data.safe_places:
            reasons.setdefault(
                name,
                NOT_UPLOADED
                if (name, port) in data.existing_places
                else "its output is no longer there",
            )
    return reasons


def _has_jobs(chain: ChainView, step: PlanStep) -> bool:
    """Return whether its jobs are identified by their number and each has its own outputs."""
    simple = (
        step.mode is TaskMode.MAP
        and step.batch.files == 1
        and not step.single
        and step.main_input.pick is None
    )
    return (
        simple and chain.steps[step.name].sent and not any(output.spread for output in step.outputs)
    )


def _missing(
    plan: Plan, request: RerunRequest, runs: Collection[str], *, readable: Collection[UUID]
) -> list[str]:
    sentences = []
    for port, uid in from_outside(plan, request).items():
        steps = [
            step.name
            for step in plan.steps
            if step.name in runs and Source(step=None, port=port) in step.sources
        ]
        if steps and uid not in readable:
            source = (
                "its input" if port == plan.data_input else f"the file that is its parameter {port}"
            )
            names = ", ".join(steps)
            sentences.append(
                f"step {names} would have to run, but {source}, data set {uid}, has been deleted"
            )
    return sentences


def from_outside(plan: Plan, request: RerunRequest) -> dict[str, UUID]:
    """Return the first input and the files given as parameters, by their source names."""
    files = given_files(plan, request.params)
    return {plan.data_input: request.input, **{name: file.dataset for name, file in files.items()}}
