"""`sluice task …`"""

from typing import Annotated

import typer

from sluice.cli.connect import DEFAULT_HOME, HomeOption, JsonOption, UrlOption, ask
from sluice.cli.named import TaskArgument, the_chain, the_task
from sluice.cli.output import answer, err, out, print_json, print_table
from sluice.contracts.chains import ChainTask
from sluice.contracts.states import JobState, StepState
from sluice.contracts.tasks import Job, JobOrder

_COLUMNS = ["task", "step", "data set", "status", "jobs", "finished", "failed", "canceled", "running", "rank"]

app = typer.Typer(no_args_is_help=True, help="Steps over whole data sets, and their jobs.")


@app.command("list")
def list_tasks(
    *,
    state: Annotated[StepState | None, typer.Option(help="Only those in this state.")] = None,
    chain: Annotated[str | None, typer.Option(help="Only those of this chain: its uid, or as `chain show` takes it.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 200,
    after: Annotated[str | None, typer.Option(help="Go on where the list before ended, as it says.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Tasks with the counts of their jobs."""
    uid = None if chain is None else the_chain(url, home, chain)
    page = ask(url, home, lambda c: c.operator.tasks(state=state, chain=uid, after=after, limit=limit, paged=True))
    if as_json:
        print_json(page.tasks)
    else:
        print_table(_COLUMNS, [_row(task) for task in page.tasks], empty="no task")
    if page.next is not None:
        err.print(f"there are more: --after {page.next}")


@app.command("show")
def show(task: TaskArgument, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
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
        out.print(f"killed: {found.jobs.killed} of its canceled jobs were with pilots; what these had done is lost")


@app.command("jobs")
def jobs(  # noqa: PLR0913 - a command's options, each by its name
    task: TaskArgument,
    *,
    state: Annotated[JobState | None, typer.Option(help="Only those in this state.")] = None,
    sort: Annotated[JobOrder, typer.Option(help="By number; or those that have ended, the greatest first.")] = JobOrder.SEQ,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
    after: Annotated[str | None, typer.Option(help="Go on where the list before ended, as it says.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """The jobs of a task: state, pilot, time, memory and exit code of each."""
    uid = the_task(url, home, task)
    page = ask(url, home, lambda c: c.operator.jobs(uid, state=state, sort=sort, after=after, limit=limit, full=True))
    if as_json:
        print_json(page.jobs)
    else:
        print_table(
            ["job", "seq", "state", "attempt", "pilot", "time", "MiB", "exit", "input", "error", "why"],
            [_job_row(job) for job in page.jobs],
            empty="it has no job yet" if state is None else f"none of its jobs is {state.value}",
        )
    if page.next is not None:
        err.print(f"there are more: --after {page.next}")


@app.command("job")
def job(number: int, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """A job with all its attempts, and one sentence why it does not run or how it ended."""
    found = ask(url, home, lambda c: c.operator.job(number, full=True))
    if as_json:
        print_json(found)
        return
    print_table(
        ["attempt", "pilot", "outcome", "exit", "error", "peak MiB", "CPU s", "message"],
        [
            (a.attempt, a.pilot_name or a.pilot, a.outcome or "", a.exit_code, a.error_class or "", a.peak_memory, a.cpu_seconds,
             a.message)
            for a in found.attempts
        ],
        empty="no attempt yet",
    )  # fmt: skip
    out.print(ask(url, home, lambda c: c.operator.explain_job(number)).text)


@app.command("log")
def log(
    number: int,
    *,
    attempt: Annotated[int | None, typer.Option(help="Default: the last.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """The log of a job."""
    text = ask(url, home, lambda c: c.operator.job_log(number, attempt=attempt))
    if as_json:
        print_json({"job": number, "log": text})
    else:
        out.print(text, end="")


@app.command("cancel")
def cancel(task: TaskArgument, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Cancel a task: its chain is canceled with it."""
    uid = the_task(url, home, task)
    status = ask(url, home, lambda c: c.operator.cancel_task(uid))
    answer(status, f"task {status.uid}: {status.state.value}", as_json=as_json)


@app.command("retry")
def retry(task: TaskArgument, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Give the failed and held jobs of a task another round."""
    uid = the_task(url, home, task)
    status = ask(url, home, lambda c: c.operator.retry_task(uid))
    answer(status, f"task {status.uid}: {status.ready} jobs ready", as_json=as_json)


@app.command("rank")
def rank(
    task: TaskArgument, rank: float, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False
) -> None:
    """Change the rank of a task; a higher one runs earlier."""
    uid = the_task(url, home, task)
    status = ask(url, home, lambda c: c.operator.prioritise(uid, rank))
    answer(status, f"task {status.uid}: rank {status.rank:g}", as_json=as_json)


def _row(task: ChainTask) -> tuple[object, ...]:
    j = task.jobs
    counts = (j.total, j.finished, j.failed, j.canceled, j.leased + j.running, round(j.rank, 2)) if j else (0, 0, 0, 0, 0, 0)
    return (task.task_id, task.step, task.dataset_name, task.status.value, *counts)


def _job_row(job: Job) -> tuple[object, ...]:
    time = "" if job.seconds is None else f"{job.seconds:.1f} s"
    memory = "" if job.peak_memory is None else round(job.peak_memory)
    why = job.error_class or "", job.message
    return (
        job.id,
        job.seq,
        job.state.value,
        job.attempt,
        job.pilot or "",
        time,
        memory,
        job.exit_code,
        _inputs(job.inputs),
        *why,
    )


def _inputs(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} files"
