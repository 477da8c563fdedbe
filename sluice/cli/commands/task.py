"""`sluice task …`"""

from typing import Annotated

import typer

from sluice.cli.commands.job import list_jobs, logs, show_job
from sluice.cli.connection import DEFAULT_HOME, HomeOption, JsonOption, UrlOption, ask
from sluice.cli.lookup import TaskArgument, the_chain, the_task
from sluice.cli.output import answer, out, print_json, print_table
from sluice.cli.paging import AfterOption, tell_more
from sluice.contracts.chains import ChainTask
from sluice.contracts.numbers import counted, in_full
from sluice.contracts.states import StepState

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

app = typer.Typer(no_args_is_help=True, help="Steps over whole data sets, and their jobs.")
for _name, _command in (("jobs", list_jobs), ("job", show_job), ("log", logs)):
    app.command(_name)(_command)


@app.command("list")
def list_tasks(
    *,
    state: Annotated[StepState | None, typer.Option(help="Only those in this state.")] = None,
    chain: Annotated[
        str | None,
        typer.Option(help="Only those of this chain: its uid, or as `chain show` takes it."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 200,
    after: AfterOption = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Tasks with the counts of their jobs."""
    uid = None if chain is None else the_chain(url, home, chain)
    page = ask(
        url,
        home,
        lambda c: c.operator.tasks(state=state, chain=uid, after=after, limit=limit, paged=True),
    )
    if as_json:
        print_json(page.tasks)
    else:
        print_table(_COLUMNS, [_row(task) for task in page.tasks], empty="no task")
    tell_more(page.next)


@app.command("show")
def show(
    task: TaskArgument,
    *,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """A task, and one sentence why it does not run or how it ended."""
    uid = the_task(url, home, task)
    found = ask(url, home, lambda c: c.operator.task(uid, full=True))
    if as_json:
        print_json(found)
        return
    explanation = ask(url, home, lambda c: c.operator.explain_task(uid))
    print_table(_COLUMNS, [_row(found)], empty="")
    out.print(explanation.text)
    if found.jobs is not None and found.jobs.killed:
        out.print(
            f"killed: {found.jobs.killed} of its canceled jobs were with pilots; what these had"
            " done is lost"
        )


@app.command("cancel")
def cancel(
    task: TaskArgument,
    *,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Cancel a task: its chain is canceled with it."""
    uid = the_task(url, home, task)
    status = ask(url, home, lambda c: c.operator.cancel_task(uid))
    answer(status, f"task {status.uid}: {status.state.value}", as_json=as_json)


@app.command("retry")
def retry(
    task: TaskArgument,
    *,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Give the failed and held jobs of a task another round."""
    uid = the_task(url, home, task)
    status = ask(url, home, lambda c: c.operator.retry_task(uid))
    answer(status, f"task {status.uid}: {counted(status.ready, 'job')} ready", as_json=as_json)


@app.command("rank")
def rank(
    task: TaskArgument,
    rank: float,
    *,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Change the rank of a task; a higher one runs earlier."""
    uid = the_task(url, home, task)
    status = ask(url, home, lambda c: c.operator.prioritise(uid, rank))
    answer(status, f"task {status.uid}: rank {in_full(status.rank)}", as_json=as_json)


def _row(task: ChainTask) -> tuple[object, ...]:
    j = task.jobs
    counts = (
        (j.total, j.finished, j.failed, j.canceled, j.leased + j.running, round(j.rank, 2))
        if j
        else (0, 0, 0, 0, 0, 0)
    )
    return (task.task_id, task.step, task.dataset_name, task.status.value, *counts)
