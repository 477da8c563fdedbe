"""`sluice run`: a workflow on local files, with outputs and a manifest in a folder."""

import asyncio
import secrets
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from sluice.cli.commands.chains.chain_watch import (
    follow_with_bars,
    refusal_names_chain,
    say_how_to_go_on,
    system_options,
    tell_failures,
)
from sluice.cli.connection import Connection, connected
from sluice.cli.errors import plain_errors
from sluice.cli.options import (
    EntryOrder,
    GroupOption,
    JobOption,
    OrderOption,
    ParamOption,
    RankOption,
    RecursiveOption,
    existing,
)
from sluice.cli.output import err, print_files, print_json
from sluice.cli.parameters import ParameterInput, key_values, read_parameters, require_dataset
from sluice.cli.system import System, with_system
from sluice.cli.template_files import read_template_files, template_name
from sluice.cli.transfer.failed_jobs import fetch_failed_jobs
from sluice.cli.transfer.inputs import InputEntry, entries_of_paths, known_bytes, require_paths
from sluice.cli.transfer.output_folder import reserved_folder
from sluice.cli.transfer.parameter_files import (
    dataset_entries,
    local_files,
    upload_parameter_files,
)
from sluice.cli.transfer.results import fetch_results, write_manifest
from sluice.cli.transfer.upload import empty_dataset, take_dataset_back, upload_files
from sluice.cli.watch.chain import failed_jobs, failures_json
from sluice.cli.watch.wait_reasons import StepNeverFits
from sluice.contracts.chains.chains import INCOMPLETE, Chain, ChainTask
from sluice.contracts.common.bounds import MAX_TEXT
from sluice.contracts.common.naming import MAX_DATASET_NAME, fitting_name
from sluice.contracts.common.numbers import counted
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.jobs.tasks import Cancel
from sluice.contracts.templates.chain_requirements import DatasetFacts
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Template
from sluice.cwl_runner.client_lease import ClientLease
from sluice.embedded.home import Home
from sluice.embedded.process import system_of_ours
from sluice.process.termination import Terminated, complete, is_terminated, run_until_terminated

InputsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--input",
        "-i",
        help="Input files, in order. A folder stands for its files, or for itself if the"
        " template takes directories. There are none if the workflow takes no data"
        " set.",
    ),
]
MetaOption = Annotated[
    list[str] | None, typer.Option("--meta", "-m", help="key=value: metadata of the data set.")
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Empty folder for the outputs and manifest.json.")
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Accept a folder that is not empty, and overwrite its files."),
]
WaitOption = Annotated[
    bool,
    typer.Option("--wait", help="Wait for suitable nodes if the jobs need more than any node has."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    template: Path
    files: list[Path]
    params: ParameterInput
    meta: dict[str, object]
    folder: Path
    force: bool
    name: str
    dataset: str
    recursive: bool
    order: EntryOrder
    wait: bool
    rank: float
    group: str | None
    as_json: bool
    #: The options by which other commands find the system.
    where: list[str]


@with_system
def run(  # noqa: PLR0913 - a command's options, each by its name
    system: System,
    template: Annotated[
        Path, typer.Argument(help="The CWL workflow.", callback=existing, dir_okay=False)
    ],
    *,
    inputs: InputsOption = None,
    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="More input files (for shell patterns)."),
    ] = None,
    params: ParamOption = None,
    job: JobOption = None,
    meta: MetaOption = None,
    folder: OutOption = Path("out"),
    force: ForceOption = False,
    name: Annotated[
        str | None,
        typer.Option(help="The name of the run's template. The default is the name of its file."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The name of the run's data set. The default consists of the template's name"
            " and the time.",
        ),
    ] = None,
    recursive: RecursiveOption = False,
    order: OrderOption = EntryOrder.GIVEN,
    wait: WaitOption = False,
    rank: RankOption = 0.0,
    group: GroupOption = None,
) -> None:
    """Run a workflow on files, on the running system or on one that is started for the run.

    The workflow belongs to the run: a published template of its name does not change, and no data
    set is matched with it.
    """
    called = name or template_name(template)
    arguments = _Arguments(
        template=template,
        files=[*(inputs or []), *(more or [])],
        params=plain_errors(lambda: read_parameters(params or [], job=job)),
        meta=key_values(meta or [], option="--meta"),
        folder=folder,
        force=force,
        name=called,
        dataset=dataset or _name_now(called),
        recursive=recursive,
        order=order,
        wait=wait,
        rank=rank,
        group=group,
        as_json=system.as_json,
        where=system_options(system),
    )
    if not plain_errors(lambda: _carry_through(system, arguments)):
        raise typer.Exit(1)


def _carry_through(system: System, arguments: _Arguments) -> bool:
    require_paths(arguments.files)
    begun: list[_Begun] = []
    with (
        reserved_folder(arguments.folder, empty=not arguments.force),
        _started(system) as started,
    ):
        try:
            return run_until_terminated(_run(started.url, arguments, begun))
        except KeyboardInterrupt:
            for run in begun:
                say_how_to_go_on(
                    run.chain, system, folder=arguments.folder, ends_with_us=started.ours
                )
            raise
        except Terminated as ended:
            ended.consequence = _what_becomes_of(begun, arguments.where, is_ours=started.ours)
            raise


def _what_becomes_of(begun: Sequence["_Begun"], where: Sequence[str], *, is_ours: bool) -> str:
    """Return what the system does with the chain of an ended command, and how to see it."""
    if not begun:
        return "no chain had begun"
    [run] = begun
    show = f"`{shlex.join(['sluice', 'chain', 'show', str(run.chain), *where])}` shows it"
    if is_ours:
        return (
            f"the system that was started for chain {run.chain} stops. When it runs again"
            f" (`{shlex.join(['sluice', 'up', *where])}`), it cancels the chain; {show}"
        )
    if run.lease.seconds is None:
        return f"chain {run.chain} goes on; {show}"
    limit = counted(ceil(run.lease.seconds / 60), "minute")
    return f"chain {run.chain} is canceled within {limit}, as no command waits for it; {show}"


@dataclass(frozen=True, slots=True)
class _Started:
    """The system to use. ``ours`` says whether it was started for this run."""

    url: str
    ours: bool


@contextmanager
def _started(system: System) -> Iterator[_Started]:
    """Provide the system to use. One that was started for commands stops after the last one."""
    if system.url is not None:
        yield _Started(system.url.rstrip("/"), ours=False)
        return
    with system_of_ours(
        Home(system.home), on_start=lambda: err.print("starting an embedded system …")
    ) as used:
        yield _Started(used.url, ours=used.started)


@dataclass(frozen=True, slots=True)
class _Begun:
    """The chain of a run, and the lease that owns it."""

    chain: UUID
    lease: ClientLease


async def _run(url: str, arguments: _Arguments, begun: list[_Begun]) -> bool:
    """Run the workflow. ``begun`` receives the chain as soon as it exists."""
    started = time.monotonic()
    deliberate = (KeyboardInterrupt, asyncio.CancelledError)
    with ClientLease(url, discard=False, deliberate=deliberate) as lease:
        async with connected(url, lease=lease) as connection:
            written = await asyncio.to_thread(read_template_files, [arguments.template])
            new = written.new(arguments.name).model_copy(update={"group": arguments.group})
            template = await connection.operator.store_run_template(new)
            for finding in template.warnings:
                err.print(str(finding))
            try:
                chain = await _begin(connection, template, arguments, begun=begun, lease=lease)
                err.print(f"chain {chain.uid}")
                chain, tasks = await _follow(connection, chain, arguments)
                seconds = time.monotonic() - started
                return await _finish(connection, chain, tasks, arguments=arguments, seconds=seconds)
            except asyncio.CancelledError:
                if begun and is_terminated():
                    lease.abandon()
                raise


async def _follow(
    connection: Connection, chain: Chain, arguments: _Arguments
) -> tuple[Chain, list[ChainTask]]:
    """Follow the chain to its end. Cancel it if no node will ever have what it needs."""
    try:
        return await follow_with_bars(
            connection, chain, quiet=arguments.as_json, for_nodes=arguments.wait
        )
    except StepNeverFits as error:
        err.print(f"{error}. The chain is canceled; with --wait it would wait for such a node.")
        with suppress(Conflict):  # it has ended meanwhile
            reason = f"`sluice run` gave up: {error}"[:MAX_TEXT]
            chain = await connection.operator.cancel_chain(chain.uid, Cancel(reason=reason))
        return await follow_with_bars(connection, chain, quiet=True)


async def _begin(
    connection: Connection,
    template: Template,
    arguments: _Arguments,
    *,
    begun: list[_Begun],
    lease: ClientLease,
) -> Chain:
    """Upload the files, and request the chain. If that fails, delete the uploaded files.

    All files and parameters are checked before anything is copied. A signal during the request
    waits for the answer, so that the command knows its chain.
    """
    entries, params = await asyncio.to_thread(_entries, template.plan, arguments)
    # No other template takes a data set that is on demand.
    new = NewDataset(
        name=arguments.dataset, meta=arguments.meta, on_demand=True, group=arguments.group
    )
    files = local_files(template.plan, params.values)
    facts = {"name": new.name, "type": str(new.type), **new.meta}
    subject = DatasetFacts(facts, files=len(entries), bytes=known_bytes(entries))
    values = params.fitting(template.plan, subject, files=files)
    async with AsyncExitStack() as undo:
        dataset = (
            await upload_files(connection, entries, dataset=new)
            if entries
            else await empty_dataset(connection, new)
        )
        undo.push_async_callback(take_dataset_back, connection, dataset)
        values = await upload_parameter_files(
            connection, values, files, beside=new.name, group=arguments.group, undo=undo
        )

        async def request() -> Chain:
            chain = await connection.operator.request_chain(
                dataset.uid,
                template.name,
                run_template=template.id,
                params=values,
                rank=arguments.rank,
            )
            undo.pop_all()
            begun.append(_Begun(chain.uid, lease))
            await asyncio.to_thread(
                lease.give_to_chain,
                str(chain.uid),
                datasets=lease.datasets,
                run_template=str(template.id),
            )
            return chain

        return await complete(request())


def _name_now(template: str) -> str:
    """Return a name that no other data set has."""
    ending = f"-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    return fitting_name(template, ending, most=MAX_DATASET_NAME)


def _entries(plan: Plan, arguments: _Arguments) -> tuple[list[InputEntry], ParameterInput]:
    """Return the entries of the data set, and the other parameters. A job order may name both.

    Raises:
        Unprocessable: The files do not fit the template.
    """
    params = arguments.params
    if not arguments.files and plan.takes_dataset and plan.data_input in params.values:
        entries = dataset_entries(plan, params.values[plan.data_input])
        return entries, params.without(plan.data_input)
    require_dataset(
        plan, arguments.name, given=bool(arguments.files), how="give its files with --input"
    )
    if not arguments.files:
        return [], params
    entries = entries_of_paths(
        arguments.files, plan.data_entries, recursive=arguments.recursive, order=arguments.order
    )
    return entries, params


async def _finish(
    connection: Connection,
    chain: Chain,
    tasks: list[ChainTask],
    *,
    arguments: _Arguments,
    seconds: float,
) -> bool:
    outputs, failed_files, failed = [], [], await failed_jobs(connection, tasks)
    if chain.state is ChainState.FINISHED:
        folder = arguments.folder
        with refusal_names_chain(chain.uid, arguments.where):
            outputs = await fetch_results(connection, chain, folder, force=arguments.force)
            failed_files = await fetch_failed_jobs(connection, chain, failed, folder)
            write_manifest(folder, outputs, chain=chain, failed=failures_json(failed))
    if arguments.as_json:
        print_json(
            {
                "status": chain.state.value,
                "reason": chain.reason,
                "incomplete": chain.outcome == INCOMPLETE,
                "chain": str(chain.uid),
                "seconds": round(seconds, 3),
                "outputs": [
                    {"name": o.name, "size": o.size, "sha256": o.checksum[7:]} for o in outputs
                ],
                "failed_jobs": failures_json(failed),
            }
        )
    else:
        tell_failures(failed, arguments.where)
        print_files([*(output.path for output in outputs), *failed_files])
        if chain.outcome != ChainState.FINISHED:
            err.print(f"{chain.outcome}: {chain.reason}")
    return chain.state is ChainState.FINISHED
