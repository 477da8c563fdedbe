"""The commands `sluice job …`."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO

import httpx
import typer

from sluice.cli.object_lookup import resolve_task_uid
from sluice.cli.options import AfterOption, TaskArgument
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import with_local_start
from sluice.clientkit.output import err, out, print_json, print_next_page_hint, print_table
from sluice.clientkit.terminal import byte_writer
from sluice.clientkit.watch.job_log import follow
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job, JobOrder
from sluice.storage.entries import make_temporary_name
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import escaped

app = typer.Typer(no_args_is_help=True, help="The jobs of tasks, and their logs.")

NumberArgument = Annotated[
    int, typer.Argument(metavar="JOB", help="The number of the job, as `job list` shows it.")
]
AttemptOption = Annotated[
    int | None,
    typer.Option(help="The number of the attempt. The default is the last one with a log."),
]


@app.command("list")
@with_system
def list_jobs(
    system: System,
    task: TaskArgument,
    *,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    sort: Annotated[
        JobOrder, typer.Option(help="By number, or only ended jobs with the greatest value first.")
    ] = JobOrder.SEQ,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The maximum number of jobs.")
    ] = 100,
    after: AfterOption = None,
) -> None:
    """List the jobs of a task: state, pilot, time, memory and exit code of each."""
    uid = resolve_task_uid(system, task)
    page = system.ask(
        lambda c: c.operator.list_jobs(
            uid, state=state, sort=sort, after=after, limit=limit, full=True
        ),
    )
    if system.as_json:
        print_json(page.jobs)
    else:
        print_table(
            [
                "job",
                "seq",
                "state",
                "attempt",
                "pilot",
                "time",
                "MiB",
                "exit",
                "input",
                "error",
                "why",
            ],
            [_job_row(job) for job in page.jobs],
            empty="it has no job yet" if state is None else f"none of its jobs is {state.value}",
        )
    print_next_page_hint(page.after)


@app.command("show")
@with_system
def show_job(
    system: System,
    number: NumberArgument,
) -> None:
    """Show a job with all its attempts, and why it does not run or how it ended."""
    job = system.ask(lambda c: c.operator.get_job(number))
    if system.as_json:
        print_json(job)
        return
    print_table(
        ["attempt", "pilot", "outcome", "exit", "error", "peak MiB", "CPU s", "message"],
        [
            (
                attempt.attempt,
                attempt.who,
                attempt.outcome or "",
                attempt.exit_code,
                attempt.error_class or "",
                attempt.peak_memory,
                attempt.cpu_seconds,
                attempt.message,
            )
            for attempt in job.attempts
        ],
        empty="no attempt yet",
    )
    out.print(system.ask(lambda c: c.operator.explain_job(number)).text)


@app.command("logs")
@with_system
def logs(
    system: System,
    number: NumberArgument,
    *,
    attempt: AttemptOption = None,
    live: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Print what the job writes while it runs, until it has ended."
        ),
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write the whole log to this file. `-` means standard output."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Print the log of a job.

    Of a long log, it prints the beginning and the end, with a line that says how much is left out.
    The start of the attempt is in local time. `--out` and `--json` give the log as it is stored,
    with the start in UTC.
    """
    if live and (file is not None or attempt is not None or system.as_json):
        raise typer.BadParameter("--follow goes with none of --attempt, --out and --json")
    if live:
        write = byte_writer(sys.stdout)
        state = system.ask(lambda c: follow(c, number, write))
        err.print(f"job {number}: {state.value}")
        return
    if file is not None:
        path = file
        size = system.ask(lambda c: _download(c, number, path, attempt=attempt, force=force))
        if str(path) != "-":
            system.answer(
                {"job_id": number, "file": str(path), "bytes": size},
                f"{path}: {size_text(size)}",
            )
        return
    text = system.ask(lambda c: c.operator.get_job_log(number, attempt=attempt))
    if system.as_json:
        print_json({"job_id": number, "log": text})
    else:
        out.print(with_local_start(text), end="")


async def _download(
    connection: Connection, number: int, path: Path, *, attempt: int | None, force: bool
) -> int:
    """Write a log to a file, and return its size in bytes.

    The file gets its name only when it is complete.

    Raises:
        Conflict: The file exists.
        NotFound: There is no such job or log.
        NotAvailable: The system does not answer, or the connection breaks.
        OSError: The file cannot be written.
    """
    if str(path) == "-":
        return await _receive(connection, number, sys.stdout.buffer, attempt=attempt)
    if not force and await asyncio.to_thread(path.exists):
        raise Conflict(f"{path} already exists: --force overwrites it")
    temporary = path.with_name(make_temporary_name())
    try:
        with temporary.open("xb") as target:
            size = await _receive(connection, number, target, attempt=attempt)
        await asyncio.to_thread(os.replace, temporary, path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    return size


async def _receive(
    connection: Connection, number: int, target: BinaryIO, *, attempt: int | None
) -> int:
    size = 0
    try:
        async with connection.operator.stream_log(number, attempt=attempt) as content:
            async for piece in content.aiter_bytes():
                size += target.write(piece)
    except httpx.TransportError as error:
        raise NotAvailable(
            f"the log of job {number} broke off after {size_text(size)}: {reason_of(error)}"
        ) from error
    target.flush()
    return size


def _job_row(job: Job) -> tuple[object, ...]:
    time = "" if job.seconds is None else f"{job.seconds:.1f} s"
    memory = (
        "" if not job.peak_memory else round(job.peak_memory, 1 if job.peak_memory < 9.95 else None)
    )
    reason = job.error_class or "", job.message
    return (
        job.id,
        job.seq,
        job.state.value,
        job.attempt,
        job.pilot_name or "",
        time,
        memory,
        job.exit_code,
        _inputs(job.inputs),
        *reason,
    )


def _inputs(names: list[str]) -> str:
    return escaped(names[0]) if len(names) == 1 else f"{len(names)} files"
