"""`sluice bench …`: what the system does in a second, beside a peer in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.connect import plain_errors

app = typer.Typer(no_args_is_help=True, help="Measure this machine: each prints a table and, as its last line, one JSON object.")


@app.command("jobs")
def jobs(files: Annotated[int, typer.Option(min=10, help="Files to work on.")] = 2000) -> None:
    """Real jobs (sha256sum of small files, then a merge), beside xargs and cwltool."""
    from sluice.cli.bench.jobs import bench_jobs  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_jobs(files)).show()


@app.command("latency")
def latency(rounds: Annotated[int, typer.Option(min=1, help="Data sets, one after the other.")] = 40) -> None:
    """Data set closed to first job, and step to step, on an idle system."""
    from sluice.cli.bench.latency import bench_latency  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_latency(rounds)).show()


@app.command("bookkeeping")
def bookkeeping(
    jobs: Annotated[int, typer.Option(min=100, help="Jobs to carry from leased to registered.")] = 10_000,
    waiting: Annotated[
        list[int] | None, typer.Option(min=1, help="Jobs more that are ready all the time; several times: one after the other.")
    ] = None,
    stack: Annotated[
        Path | None, typer.Option(help="Folder of separate processes to measure (`make stack`); without it, an embedded system.")
    ] = None,
) -> None:
    """Services and database alone, with simulated pilots."""
    from sluice.cli.bench.bookkeeping import bench_bookkeeping  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_bookkeeping(jobs, waiting or [1], stack)).show()


@app.command("all")
def everything() -> None:
    """All of them, with their defaults."""
    bookkeeping()
    jobs()
    latency()
