"""`sluice chain watch`, and the functions that `sluice run` shares with it."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import typer

from sluice.cli.object_lookup import resolve_chain_uid
from sluice.cli.options import ChainArgument
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.output import err, print_json
from sluice.clientkit.watch.chain import failed_jobs, follow_chain
from sluice.clientkit.watch.progress import StepBars
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import Conflict, ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.common.wording import in_parentheses
from sluice.contracts.jobs.tasks import Job
from sluice.cwl_values import BundleError
from sluice.embedded.home import DEFAULT_HOME
from sluice.process.termination import Terminated
from sluice.storage import StorageError
from sluice.text.os_errors import os_error_sentence

#: The number of failed jobs whose logs are named.
_LOGS_NAMED = 3


@with_system
def watch(
    system: System,
    chain: ChainArgument,
) -> None:
    """Follow a chain to its end.

    The exit status is 1 if the chain failed or was canceled. Ctrl-C does not affect the chain.
    """
    uid = resolve_chain_uid(system, chain)
    where = system_options(system)
    try:
        state = system.ask(lambda c: _watch(c, uid, where, as_json=system.as_json))
    except typer.Exit as ended:
        if ended.exit_code == 130:
            print_next_commands(uid, system)
        raise
    except Terminated as ended:
        again = shlex.join(["sluice", "chain", "watch", str(uid), *where])
        ended.consequence = f"the chain continues; `{again}` follows it again"
        raise
    if state is not ChainState.FINISHED:
        raise typer.Exit(1)


async def _watch(
    connection: Connection, uid: UUID, where: Sequence[str], *, as_json: bool
) -> ChainState:
    chain, tasks = await follow_with_bars(
        connection, await connection.operator.get_chain(uid), quiet=as_json
    )
    failed = await failed_jobs(connection, tasks)
    if as_json:
        print_json(chain)
        return chain.state
    print_failures(failed, where)
    reason = f": {chain.reason}" if chain.reason else ""
    err.print(f"{chain.outcome}{reason}")
    if chain.state is ChainState.FINISHED:
        err.print(f"its results: sluice chain get {chain.uid}")
    return chain.state


async def follow_with_bars(
    connection: Connection, chain: Chain, *, quiet: bool, for_nodes: bool = True
) -> tuple[Chain, list[ChainTask]]:
    """Follow a chain to its end, with a progress bar for each step unless ``quiet``.

    ``for_nodes`` is passed to ``follow_chain``.
    """
    latest_tasks: list[ChainTask] = []
    with StepBars() as progress:

        def show_progress(now: Chain, tasks: Sequence[ChainTask]) -> None:
            latest_tasks[:] = tasks
            if not quiet:
                progress.show(now, tasks)

        def print_wait(step: str, why: str) -> None:
            err.print(f"{step} waits: {why}")

        chain = await follow_chain(
            connection,
            chain,
            on_look=show_progress,
            on_wait=print_wait,
            on_outage=err.print,
            for_nodes=for_nodes,
        )
    return chain, latest_tasks


def system_options(system: System) -> list[str]:
    """Return the options by which another command finds the same system."""
    if system.url is not None:
        return ["--url", system.url]
    return ["--home", str(system.home)] if system.home != DEFAULT_HOME else []


def print_failures(failed_jobs: Sequence[tuple[str, Job]], where: Sequence[str]) -> None:
    """Print each failed job with its step, and the commands that show the first few logs."""
    for number, (step, job) in enumerate(failed_jobs):
        why = job.message or job.error_class or "no reason is known"
        err.print(f"  step {step}, job {job.id}{in_parentheses(job.inputs)}: {why}")
        if number < _LOGS_NAMED:
            err.print(f"    its log: {shlex.join(['sluice', 'logs', str(job.id), *where])}")


def print_next_commands(
    chain: UUID, system: System, *, folder: Path | None = None, ends_with_us: bool = False
) -> None:
    """Print the commands that follow a chain and fetch its results.

    Args:
        chain: The chain.
        system: The system.
        folder: The folder for the results.
        ends_with_us: Whether the system was started for this command and stops with it.
    """
    where = system_options(system)
    commands = [
        ["chain", "watch", str(chain)],
        ["chain", "get", str(chain), *(["--out", str(folder)] if folder else [])],
    ]
    if ends_with_us:
        err.print(
            "The system was started for this run and stops with it. The chain continues when it"
            " runs again:"
        )
        commands.insert(0, ["up"])
    else:
        err.print("The chain continues. Follow it, and get its results:")
    for command in commands:
        err.print(f"  {shlex.join(['sluice', *command, *where])}")


class OutputsNotWritten(Conflict):
    """The outputs of a finished chain could not be written to the folder of a run."""

    def __init__(self, chain: UUID, why: str, where: Sequence[str]) -> None:
        again = shlex.join(["sluice", "chain", "get", str(chain), "--out", "OTHER", *where])
        super().__init__(
            f"chain {chain} has finished, but its outputs could not be written: {why}. The system"
            f" keeps them: `{again}` writes them to the folder OTHER"
        )


@contextmanager
def name_chain_in_errors(chain: UUID, where: Sequence[str]) -> Iterator[None]:
    """Add the chain, and the command that fetches its outputs, to errors while they are written.

    Args:
        chain: The chain.
        where: The options by which other commands find the system.

    Raises:
        OutputsNotWritten: The outputs could not be written.
    """
    try:
        yield
    except OSError as error:
        raise OutputsNotWritten(chain, os_error_sentence(error), where) from error
    except (ServiceError, StorageError, BundleError) as error:
        raise OutputsNotWritten(chain, str(error), where) from error
