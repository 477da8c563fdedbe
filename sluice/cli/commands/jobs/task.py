"""The commands `sluice task …`."""

from typing import Annotated

import typer

from sluice.cli.commands.jobs.job import list_jobs, logs, show_job
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.object_lookup import resolve_chain_uid, resolve_task_uid
from sluice.cli.options import AfterOption, RankArgument, TaskArgument
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.output import out, print_json, print_next_page_hint, print_table
from sluice.contracts.chains.chains import STARTING_TEXT, ChainTask, derive_outcome
from sluice.contracts.common.numbers import format_count, in_full
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import StepState

_COLUMNS = [
    "task",
    "step",
    "data set",
    "status",
    "jobs",
    "finished",
    "failed",
    "canceled",
    "with pilots",
    "rank",
]

app = typer.Typer(
    no_args_is_help=True, help="Tasks: steps of chains over whole data sets, and their jobs."
)
for _name, _command in (("jobs", list_jobs), ("job", show_job), ("log", logs)):
    app.command(_name)(_command)


@app.command("list")
@with_system
def list_tasks(
    system: System,
    *,
    state: Annotated[StepState | None, typer.Option(help="Only tasks in this state.")] = None,
    chain: Annotated[
        str | None,
        typer.Option(help="Only tasks of this chain, as for `chain show`."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of tasks.")] = 200,
    after: AfterOption = None,
) -> None:
    """List tasks with the counts of their jobs."""
    uid = None if chain is None else resolve_chain_uid(system, chain)
    page = system.ask(
        lambda c: c.operator.list_tasks(state=state, chain_uid=uid, after=after, limit=limit),
    )
    if system.as_json:
        print_json(page.tasks)
    else:
        print_table(_COLUMNS, [_row(task) for task in page.tasks], empty="no task")
    print_next_page_hint(page.after)


@app.command("show")
@with_system
def show(
    system: System,
    task: TaskArgument,
) -> None:
    """Show a task, and why it does not run or how it ended."""
    uid = resolve_task_uid(system, task)
    details = system.ask(lambda c: c.operator.get_task(uid))
    if system.as_json:
        print_json(details)
        return
    explanation = system.ask(lambda c: explain_task(c, details))
    print_table(_COLUMNS, [_row(details)], empty="")
    out.print(explanation)
    if details.jobs is not None and details.jobs.killed:
        out.print(
            f"killed: {details.jobs.killed} of its canceled jobs were with pilots; what these had"
            " done is lost"
        )


@app.command("cancel")
@with_system
@with_confirmation
def cancel(
    system: System,
    confirmation: Confirmation,
    task: TaskArgument,
) -> None:
    """Cancel a task and its chain."""
    uid = resolve_task_uid(system, task)
    target = system.ask(lambda c: c.operator.get_task(uid))
    confirmation.require(
        f"cancel task {target.dataset_name}.{target.step} ({uid}) and its chain: what its running"
        " jobs have done is lost"
    )
    status = system.ask(lambda c: c.operator.cancel_task(uid))
    system.answer(status, f"task {status.uid}: {status.state.value}")


@app.command("retry")
@with_system
def retry(
    system: System,
    task: TaskArgument,
) -> None:
    """Retry the failed and quarantined jobs of a task."""
    uid = resolve_task_uid(system, task)
    status = system.ask(lambda c: c.operator.retry_task(uid))
    system.answer(status, f"task {status.uid}: {format_count(status.ready, 'job')} ready")


@app.command("rank")
@with_system
def rank(
    system: System,
    task: TaskArgument,
    rank: RankArgument,
) -> None:
    """Change the rank of a task. A higher rank runs earlier."""
    uid = resolve_task_uid(system, task)
    status = system.ask(lambda c: c.operator.prioritise_task(uid, rank=rank))
    system.answer(status, f"task {status.uid}: rank {in_full(status.rank)}")


async def explain_task(connection: Connection, task: ChainTask) -> str:
    """Return a sentence on why a task does not run or how it ended.

    The task of a step that is starting has no jobs yet.
    """
    try:
        return (await connection.operator.explain_task(task.task_uid)).text
    except NotFound:
        if task.state.final:
            raise
        return STARTING_TEXT


def _row(task: ChainTask) -> tuple[object, ...]:
    j = task.jobs
    counts = (
        (j.total, j.finished, j.failed, j.canceled, j.leased + j.running, round(j.rank, 2))
        if j
        else (0, 0, 0, 0, 0, 0)
    )
    return (
        task.task_uid,
        task.step,
        task.dataset_name,
        derive_outcome(task.state, failed_jobs=j.failed if j else 0),
        *counts,
    )
