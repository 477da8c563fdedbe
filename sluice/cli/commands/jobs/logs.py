"""`sluice logs`: the logs of the jobs of a chain or a task, or of a single job."""

from typing import Annotated
from uuid import UUID

import typer

from sluice.cli.object_lookup import resolve_chain, resolve_task
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import with_local_start
from sluice.clientkit.output import err, out, print_json
from sluice.contracts.chains.chains import ChainTask
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job


@with_system
def logs(
    system: System,
    what: Annotated[
        str,
        typer.Argument(
            metavar="CHAIN|TASK|JOB",
            help="A chain or a task, as for `chain show` and `task show`, or the number of a job.",
        ),
    ],
    *,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Print the logs of all jobs. The default is only failed jobs, if there are any.",
        ),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of logs.")] = 20,
) -> None:
    """Print the logs of a chain's jobs, of a task's jobs, or of one job.

    Of a long log, it prints the beginning and the end. `sluice job logs --out` writes all of it,
    and `sluice job logs -f` follows a running job. The start of an attempt is in local time, and
    with `--json` in UTC.
    """
    if what.isdecimal():
        text = system.ask(lambda c: c.operator.get_job_log(int(what)))
        if system.as_json:
            print_json({"job_id": int(what), "log": text})
        else:
            out.print(with_local_start(text), end="")
        return
    entries, more = system.ask(lambda c: _read(c, what, every=every, limit=limit))
    if system.as_json:
        print_json({"logs": [_entry(step, job, text) for step, job, text in entries]})
        return
    for step, job, text in entries:
        out.print(f"==> {step}, job {job.id}: {job.state} <==")
        out.print(with_local_start(text), end="" if text.endswith("\n") else "\n")
    if not entries:
        err.print("no job has left a log yet")
    if more:
        err.print(f"there are more: --limit shows more than {limit}")


async def _read(
    connection: Connection, what: str, *, every: bool, limit: int
) -> tuple[list[tuple[str, Job, str]], bool]:
    """Return step, job and log of each job, and whether there are more jobs."""
    tasks = [task for task in await _tasks(connection, what) if task.jobs is not None]
    only_failed = not every and any(task.jobs is not None and task.jobs.failed for task in tasks)
    entries: list[tuple[str, Job, str]] = []
    for task in tasks:
        state = JobState.FAILED if only_failed else None
        async for job in connection.operator.iterate_jobs(task.task_uid, state=state):
            if len(entries) == limit:
                return entries, True
            try:
                entries.append((task.step, job, await connection.operator.get_job_log(job.id)))
            except NotFound:
                continue  # it has no log yet
    return entries, False


async def _tasks(connection: Connection, what: str) -> list[ChainTask]:
    """Return the tasks of a chain, or a single task.

    Raises:
        NotFound: Neither a chain nor a task has this name.
    """
    try:
        chain = await resolve_chain(connection, what)
    except NotFound as no_chain:
        try:
            return [await connection.operator.get_task(await resolve_task(connection, what))]
        except NotFound:
            if _is_task(what):
                raise
            reason = no_chain.detail if what else "an empty text names nothing"
            raise NotFound(
                f"{reason}: give a chain, a task (CHAIN.STEP) or the number of a job"
            ) from None
    return (await connection.operator.list_tasks(chain_uid=chain.uid)).tasks


def _is_task(what: str) -> bool:
    """Return whether a text looks like ``CHAIN.STEP``. A uid has no dot."""
    try:
        UUID(what)
    except ValueError:
        return "." in what
    return False


def _entry(step: str, job: Job, text: str) -> dict[str, object]:
    return {"step": step, "job": job.id, "state": job.state.value, "log": text}
