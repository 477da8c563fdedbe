"""`sluice run`: a workflow on local files, with outputs and a manifest in a folder."""

import asyncio
import secrets
import shlex
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from sluice.cli.commands.chains.chain_watch import (
    follow_with_bars,
    name_chain_in_errors,
    print_failures,
    print_next_commands,
    system_options,
)
from sluice.cli.commands.chains.run_options import (
    ForceOption,
    InputsOption,
    MetaOption,
    OutOption,
    WaitOption,
    WorkflowArgument,
)
from sluice.cli.commands.chains.run_system import provide_system
from sluice.cli.errors import plain_errors
from sluice.cli.job_orders.added_requirements import add_requirements
from sluice.cli.job_orders.parameters import (
    ParameterInput,
    key_values,
    read_parameters,
    require_dataset,
)
from sluice.cli.options import (
    GroupOption,
    JobOption,
    OrderOption,
    ParamOption,
    RankOption,
    RecursiveOption,
)
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.output import err, print_files, print_json
from sluice.clientkit.template_files import (
    TemplateFiles,
    read_template_files,
    template_name,
)
from sluice.clientkit.transfer.entry_order import EntryOrder
from sluice.clientkit.transfer.failed_jobs import fetch_failed_jobs
from sluice.clientkit.transfer.inputs import InputEntry, list_entries, require_paths, total_bytes
from sluice.clientkit.transfer.output_folder import reserve_folder
from sluice.clientkit.transfer.parameter_files import (
    dataset_entries,
    local_files,
    upload_parameter_files,
)
from sluice.clientkit.transfer.results import fetch_results, write_manifest
from sluice.clientkit.transfer.upload import (
    create_empty_dataset,
    delete_unused_dataset,
    upload_files,
)
from sluice.clientkit.watch.chain import failed_jobs, failures_json
from sluice.clientkit.watch.wait_reasons import UnschedulableStep
from sluice.contracts.chains.chains import INCOMPLETE, Chain, ChainTask
from sluice.contracts.common.bounds import MAX_TEXT
from sluice.contracts.common.naming import MAX_DATASET_NAME, fitting_name
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.jobs.tasks import Cancel
from sluice.contracts.templates.chain_requirements import DatasetFacts
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Template
from sluice.cwl_runner.client_lease import ClientLease
from sluice.process.termination import Terminated, complete, is_terminated, run_until_terminated


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    template: Path
    files: list[Path]
    params: ParameterInput
    #: The requirements of the job order, or None.
    requirements: Any
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
    template: WorkflowArgument,
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
    run_name = name or template_name(template)
    order_params = plain_errors(lambda: read_parameters(params or [], job=job))
    arguments = _Arguments(
        template=template,
        files=[*(inputs or []), *(more or [])],
        params=order_params.without_requirements(),
        requirements=order_params.requirements,
        meta=key_values(meta or [], option="--meta"),
        folder=folder,
        force=force,
        name=run_name,
        dataset=dataset or _new_dataset_name(run_name),
        recursive=recursive,
        order=order,
        wait=wait,
        rank=rank,
        group=group,
        as_json=system.as_json,
        where=system_options(system),
    )
    if not plain_errors(lambda: _run_workflow(system, arguments)):
        raise typer.Exit(1)


def _run_workflow(system: System, arguments: _Arguments) -> bool:
    require_paths(arguments.files)
    chains: list[_LeasedChain] = []
    with (
        reserve_folder(arguments.folder, empty=not arguments.force),
        provide_system(system) as target,
    ):
        try:
            return run_until_terminated(_run_on_system(target.url, arguments, chains))
        except KeyboardInterrupt:
            for leased in chains:
                print_next_commands(
                    leased.chain, system, folder=arguments.folder, ends_with_us=target.ends_with_us
                )
            raise
        except Terminated as ended:
            ended.consequence = _describe_consequence(
                chains, arguments.where, is_ours=target.ends_with_us
            )
            raise


def _describe_consequence(
    chains: Sequence["_LeasedChain"], where: Sequence[str], *, is_ours: bool
) -> str:
    """Return what the system does with the chain of an ended command, and how to see it."""
    if not chains:
        return "no chain had begun"
    [leased] = chains
    show = f"`{shlex.join(['sluice', 'chain', 'show', str(leased.chain), *where])}` shows it"
    if is_ours:
        return (
            f"the system that was started for chain {leased.chain} stops. When it runs again"
            f" (`{shlex.join(['sluice', 'up', *where])}`), it cancels the chain; {show}"
        )
    if leased.lease.seconds is None:
        return f"chain {leased.chain} continues; {show}"
    limit = format_count(ceil(leased.lease.seconds / 60), "minute")
    return f"chain {leased.chain} is canceled within {limit}, as no command waits for it; {show}"


@dataclass(frozen=True, slots=True)
class _LeasedChain:
    """The chain of a run, and the lease that owns it."""

    chain: UUID
    lease: ClientLease


async def _run_on_system(url: str, arguments: _Arguments, chains: list[_LeasedChain]) -> bool:
    """Run the workflow. ``chains`` receives the chain as soon as it exists."""
    started = time.monotonic()
    deliberate = (KeyboardInterrupt, asyncio.CancelledError)
    with ClientLease(url, discard=False, deliberate=deliberate) as lease:
        async with connected(url, lease=lease) as connection:
            template_files = await asyncio.to_thread(_read_template, arguments)
            new = template_files.new(arguments.name).model_copy(update={"group": arguments.group})
            template = await connection.operator.store_run_template(new)
            for finding in template.warnings:
                err.print(str(finding))
            try:
                chain = await _start_chain(
                    connection, template, arguments, chains=chains, lease=lease
                )
                err.print(f"chain {chain.uid}")
                chain, tasks = await _follow(connection, chain, arguments)
                seconds = time.monotonic() - started
                return await _finish(connection, chain, tasks, arguments=arguments, seconds=seconds)
            except asyncio.CancelledError:
                if chains and is_terminated():
                    lease.abandon()
                raise


def _read_template(arguments: _Arguments) -> TemplateFiles:
    """Return the files of the template, with the requirements of the job order."""
    files, new = read_template_files([arguments.template]), arguments.requirements
    return files if new is None else add_requirements(files, new)


async def _follow(
    connection: Connection, chain: Chain, arguments: _Arguments
) -> tuple[Chain, list[ChainTask]]:
    """Follow the chain to its end. Cancel it if no node will ever have what it needs."""
    try:
        return await follow_with_bars(
            connection, chain, quiet=arguments.as_json, for_nodes=arguments.wait
        )
    except UnschedulableStep as error:
        err.print(f"{error}. The chain is canceled; with --wait it would wait for such a node.")
        with suppress(Conflict):  # it has ended meanwhile
            reason = f"`sluice run` gave up: {error}"[:MAX_TEXT]
            chain = await connection.operator.cancel_chain(chain.uid, Cancel(reason=reason))
        return await follow_with_bars(connection, chain, quiet=True)


async def _start_chain(
    connection: Connection,
    template: Template,
    arguments: _Arguments,
    *,
    chains: list[_LeasedChain],
    lease: ClientLease,
) -> Chain:
    """Upload the files, and request the chain. If that fails, delete the uploaded files.

    All files and parameters are checked before anything is copied. A signal during the request
    waits for the answer, so that the command knows its chain.
    """
    entries, params = await asyncio.to_thread(_select_entries, template.plan, arguments)
    # No other template takes a data set that is on demand.
    new = NewDataset(
        name=arguments.dataset, meta=arguments.meta, on_demand=True, group=arguments.group
    )
    files = local_files(template.plan, params.values)
    facts = {"name": new.name, "type": str(new.type), **new.meta}
    subject = DatasetFacts(facts, files=len(entries), bytes=total_bytes(entries))
    values = params.fit_to_plan(template.plan, subject, files=files)
    async with AsyncExitStack() as undo:
        dataset = (
            await upload_files(connection, entries, dataset=new)
            if entries
            else await create_empty_dataset(connection, new)
        )
        undo.push_async_callback(delete_unused_dataset, connection, dataset)
        values = await upload_parameter_files(
            connection, values, files, name_prefix=new.name, group=arguments.group, undo=undo
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
            chains.append(_LeasedChain(chain.uid, lease))
            await asyncio.to_thread(
                lease.transfer_to_chain,
                str(chain.uid),
                datasets=lease.datasets,
                run_template=str(template.id),
            )
            return chain

        return await complete(request())


def _new_dataset_name(template: str) -> str:
    """Return a name that no other data set has."""
    ending = f"-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    return fitting_name(template, ending, max_bytes=MAX_DATASET_NAME)


def _select_entries(plan: Plan, arguments: _Arguments) -> tuple[list[InputEntry], ParameterInput]:
    """Return the entries of the data set, and the other parameters. A job order may name both.

    Raises:
        Unprocessable: The files do not fit the template.
    """
    params = arguments.params
    if not arguments.files and plan.takes_dataset and plan.data_input in params.values:
        entries = dataset_entries(plan, params.values[plan.data_input])
        return entries, params.without(plan.data_input)
    require_dataset(
        plan, arguments.name, has_dataset=bool(arguments.files), how="give its files with --input"
    )
    if not arguments.files:
        return [], params
    entries = list_entries(
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
        with name_chain_in_errors(chain.uid, arguments.where):
            outputs = await fetch_results(connection, chain, folder, force=arguments.force)
            failed_files = await fetch_failed_jobs(connection, chain, failed, folder)
            write_manifest(folder, outputs, chain=chain, failed_jobs=failures_json(failed))
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
        print_failures(failed, arguments.where)
        print_files([*(output.path for output in outputs), *failed_files])
        if chain.outcome != ChainState.FINISHED:
            err.print(f"{chain.outcome}: {chain.reason}")
    return chain.state is ChainState.FINISHED
