"""Reading of recorded chains for the simulator, one page of jobs at a time."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from sluice.clientkit.connection import Connection
from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.problems import Conflict
from sluice.contracts.jobs.recorded_run import RecordedJob, RecordedRun, RecordedStep
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import RUN_VERSION

#: The number of pilots in one request.
PAGE = 2_000


class ChainNotEnded(Conflict):
    """A chain to simulate has not ended."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"chain {chain.uid} ({chain.dataset_name}) is {chain.state.value}: only an ended chain"
            " can be simulated",
            chain=chain.uid,
        )


class NoJobTimes(Conflict):
    """A chain to simulate has no job with a time."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"chain {chain.uid} ({chain.dataset_name}) has no job with a time: none ran in it, or"
            " all were taken over from a chain before it",
            chain=chain.uid,
        )


async def read_runs(connection: Connection, chains: Sequence[UUID]) -> list[RecordedRun]:
    """Return the recorded runs of chains.

    Raises:
        NotFound: A chain does not exist.
        ChainNotEnded: A chain has not ended.
        NoJobTimes: A chain has no job with a time.
    """
    pilots = [pilot async for pilot in _list_pilots(connection.operator)]
    return [await _read_run(connection.operator, chain, pilots) for chain in chains]


async def _read_run(operator: OperatorClient, uid: UUID, pilots: Sequence[Pilot]) -> RecordedRun:
    chain = await operator.get_chain(uid)
    if not chain.state.final:
        raise ChainNotEnded(chain)
    tasks: list[TaskStatus] = []
    steps: dict[str, RecordedStep] = {}
    for step in chain.steps:
        status = await _find_task(operator, step)
        if status is not None:
            tasks.append(status)
            steps[step.name] = await _read_step(operator, status)
    if not any(step.jobs for step in steps.values()):
        raise NoJobTimes(chain)
    names = {job.pilot for step in steps.values() for job in step.jobs}
    return RecordedRun(
        chain=uid,
        name=chain.dataset_name,
        template=chain.template,
        plan=await _get_plan(operator, chain),
        began=min(task.created_at for task in tasks),
        ended=max(task.ended_at or task.created_at for task in tasks),
        steps=steps,
        pilots=[pilot for pilot in pilots if pilot.name in names],
    )


async def _find_task(operator: OperatorClient, step: ChainStep) -> TaskStatus | None:
    """Return the task of a step, or None if the step did not run in this chain."""
    if step.task_uid is None or step.taken_from is not None:
        return None
    return (await operator.get_task(step.task_uid)).jobs


async def _read_step(operator: OperatorClient, task: TaskStatus) -> RecordedStep:
    jobs: list[RecordedJob] = []
    untimed = 0
    async for job in operator.iterate_jobs(task.uid, full=True):
        if job.seconds is None or job.started_at is None:
            untimed += 1
        else:
            jobs.append(
                RecordedJob(
                    job.seq,
                    len(job.inputs),
                    job.pilot_name or "",
                    job.started_at,
                    max(job.seconds, 0.0),
                )
            )
    return RecordedStep(task.created_at, jobs, untimed, task.failed_attempts)


async def _list_pilots(operator: OperatorClient) -> AsyncIterator[Pilot]:
    """Yield all pilots, including those that have ended."""
    after: str | None = None
    while True:
        page = await operator.list_pilots(after=after, limit=PAGE)
        for pilot in page.pilots:
            yield pilot
        if page.after is None:
            return
        after = page.after


async def _get_plan(operator: OperatorClient, chain: Chain) -> Plan:
    if chain.template_version == RUN_VERSION:
        return (await operator.get_run_template(chain.template_id)).plan
    template = await operator.get_template(chain.template, version=chain.template_version)
    return template.plan
