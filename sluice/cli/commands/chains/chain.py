"""The commands `sluice chain …`."""

import secrets
from contextlib import AsyncExitStack
from typing import Annotated
from uuid import uuid4

import typer

from sluice.cli.commands.chains.chain_text import (
    chain_row,
    describe_collection,
    step_reason,
    task_name,
    template_version,
)
from sluice.cli.commands.chains.chain_watch import watch
from sluice.cli.commands.chains.get_results import get_chain
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.job_orders.parameters import key_values, read_parameters, require_dataset
from sluice.cli.object_lookup import (
    describe_chain,
    resolve_chain,
    resolve_chain_uid,
    resolve_dataset_uid,
    resolve_template,
)
from sluice.cli.options import (
    AfterOption,
    ChainArgument,
    JobOption,
    ParamOption,
    RankArgument,
    RankOption,
)
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_json, print_next_page_hint, print_table
from sluice.clientkit.transfer.parameter_files import local_files, upload_parameter_files
from sluice.contracts.chains.chains import (
    Chain,
    ChainListState,
    RequestChain,
    RerunChain,
    RerunPlan,
)
from sluice.contracts.common.labels import entry_label, entry_state_text, role, short_label
from sluice.contracts.common.numbers import in_full
from sluice.contracts.templates.chain_requirements import NO_DATASET, DatasetFacts
from sluice.contracts.templates.scatters import value_in_short

app = typer.Typer(no_args_is_help=True, help="Data sets on their way through a template.")
app.command("watch")(watch)
app.command("get")(get_chain)

#: The exit status if the requested chain exists already.
REPEATED = 3


@app.command("list")
@with_system
def list_chains(  # noqa: PLR0913 - a command's options, each by its name
    system: System,
    *,
    state: Annotated[ChainListState | None, typer.Option(help="Only chains in this state.")] = None,
    name: Annotated[
        str | None, typer.Option(help="Only chains of the input data set of this name.")
    ] = None,
    template: Annotated[
        str | None, typer.Option(help="Only chains of this template, in any version.")
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta",
            "-m",
            metavar="KEY=VALUE",
            help="Only chains whose input has this in its metadata. Repeat the option for"
            " several keys.",
        ),
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Only chains of this account.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of chains.")] = 50,
    after: AfterOption = None,
) -> None:
    """List chains, the newest first. A chain must pass all given filters.

    A chain that finished although some of its jobs failed is shown as incomplete.
    `--state incomplete` lists only these chains, and `--state finished` includes them.
    """
    key_values(meta or [], option="--meta")  # wrong filters are refused before any request
    page = system.ask(
        lambda c: c.operator.list_chains(
            name=name,
            state=state,
            template=template,
            owner=owner,
            meta=meta,
            after=after,
            limit=limit,
        )
    )
    if system.as_json:
        print_json(page.chains)
    else:
        print_table(
            ["chain", "data set", "template", "state", "steps", "since"],
            [chain_row(chain) for chain in page.chains],
            empty="no chain matches: leave out filters to see all"
            if any((name, state, template, owner, meta))
            else "no chain yet: store a template, then register a data set (or `sluice run`)",
        )
    print_next_page_hint(page.after)


@app.command("show")
@with_system
def show(system: System, chain: ChainArgument) -> None:
    """Show a chain with its steps and data sets."""
    uid = resolve_chain_uid(system, chain)
    details = system.ask(lambda c: c.operator.get_chain(uid))
    if system.as_json:
        print_json(details)
        return
    uids = [dataset.uid for dataset in details.datasets]
    datasets = {one.uid: one for one in system.ask(lambda c: c.operator.list_datasets_by_uid(uids))}
    out.print(f"{details.dataset_name} through {template_version(details)}: {details.outcome}")
    out.print(f"chain {details.uid}, since {local_time(details.created_at)}")
    if details.rank:
        out.print(f"rank: {in_full(details.rank)} is added to those of its steps")
    if details.rerun_of:
        out.print(f"a rerun of chain {details.rerun_of}")
    if details.reason:
        out.print(details.reason)
    if details.acknowledged:
        out.print(f"seen by {details.acknowledged.by}, {local_time(details.acknowledged.at)}")
    for name, value in sorted(details.params.items()):
        if value is not None:  # no value, or a default file, which is part of the template
            out.print(f"  {name}: {value_in_short(value)}")
    for name, ref in sorted(details.secrets.items()):
        out.print(f"  {name}: {ref}")
    for collection in details.collected:
        out.print(f"  {collection.output}: {describe_collection(collection)}")
    print_table(
        ["step", "state", "task", "reason"],
        [(s.name, s.outcome, task_name(details, s), step_reason(s)) for s in details.steps],
        empty="",
    )
    print_table(
        ["data set", "what it is", "status", "uid"],
        [
            (
                short_label(datasets[d.uid]) if d.uid in datasets else entry_label(details, d),
                role(d),
                entry_state_text(d, datasets.get(d.uid)),
                d.uid,
            )
            for d in details.datasets
        ],
        empty="no data set yet",
    )


@app.command("start")
@with_system
def start(
    system: System,
    first: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|TEMPLATE",
            help="The data set (its name, its uid, or the beginning of its uid), or the template"
            " if it takes no data set.",
        ),
    ],
    second: Annotated[
        str | None,
        typer.Argument(metavar="TEMPLATE", help="The name of the template, after a data set."),
    ] = None,
    *,
    params: ParamOption = None,
    job: JobOption = None,
    rank: RankOption = 0.0,
) -> None:
    """Start a chain for a data set and a template, whether or not the template's rules match.

    If the template takes no data set, the chain has parameters only.

    There is one chain for each data set, version of the template and parameters. Without
    parameters, it is the chain that starts automatically, or would. If the chain exists, nothing is
    started: the command says so and shows the chain, and the exit status is 3.
    """
    template = second or first
    parameter_input = plain_errors(lambda: read_parameters(params or [], job=job))
    uid = resolve_dataset_uid(system, first) if second else None

    async def request_chain(connection: Connection) -> tuple[Chain, bool]:
        plan = (await resolve_template(connection, template)).plan
        require_dataset(
            plan, template, has_dataset=uid is not None, how="name the data set before the template"
        )
        dataset = None if uid is None else await connection.operator.get_dataset(uid)
        files = local_files(plan, parameter_input.values)
        subject = NO_DATASET if dataset is None else DatasetFacts.of(dataset)
        values = parameter_input.fit_to_plan(plan, subject, files=files)
        async with AsyncExitStack() as undo:
            name = f"{template if dataset is None else dataset.name}-{secrets.token_hex(3)}"
            values = await upload_parameter_files(
                connection, values, files, name_prefix=name, undo=undo
            )
            request = RequestChain(dataset_uid=uid, template=template, params=values, rank=rank)
            chain, is_new = await connection.operator.request_new_chain(request)
            if is_new:
                undo.pop_all()
        return chain, is_new

    chain, is_new = system.ask(request_chain)
    system.answer(chain, f"chain {chain.uid}: {chain.state.value}")
    if not is_new:
        _print_existing_chain(chain, has_parameters=bool(params or job))
        raise typer.Exit(REPEATED)


def _print_existing_chain(chain: Chain, *, has_parameters: bool) -> None:
    err.print(
        f"nothing was started: a chain of {chain.dataset_name} and {template_version(chain)} with"
        f" {'these' if has_parameters else 'the default'} parameters already exists"
    )


@app.command("rerun")
@with_system
def rerun(
    system: System,
    chain: ChainArgument,
    *,
    from_step: Annotated[
        str | None,
        typer.Option("--from", metavar="STEP", help="Rerun this step and all steps after it."),
    ] = None,
    failed_only: Annotated[
        bool,
        typer.Option(
            "--failed-only", help="Rerun only jobs that did not finish, and what depends on them."
        ),
    ] = False,
    params: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="key=value: a new value of a parameter."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would run.")] = False,
) -> None:
    """Rerun a chain that has ended, as a new chain with the same version of its template.

    Without options, the steps run that did not finish, and those that depend on them. Of a finished
    chain, all steps run, or with --param those that it changes. Existing results of the other steps
    are reused. Deleted results are made again, as far back as needed.

    A step also runs again if its result is an output of the workflow and is not on the output
    storage yet. A map then reuses its finished jobs. A merge, a batch or a single job starts again.

    The command first shows which steps run. If something is no longer available, it starts
    nothing, and the exit status is 1.
    """
    uid = resolve_chain_uid(system, chain)
    values = key_values(params or [], option="--param")
    request = plain_errors(
        lambda: RerunChain(from_step=from_step, failed_only=failed_only, params=values, key=uuid4())
    )
    plan = system.ask(lambda c: c.operator.plan_rerun(uid, request))
    if not system.as_json:
        _print_plan(plan)
    if dry_run and system.as_json:
        print_json(plan)
    if dry_run or plan.missing:
        for sentence in plan.missing:
            err.print(f"it cannot be run again: {sentence}")
        raise typer.Exit(1 if plan.missing else 0)
    new_chain, _ = system.ask(lambda c: c.operator.rerun_chain(uid, request))
    system.answer(new_chain, f"chain {new_chain.uid}: {new_chain.state.value}, a rerun of {uid}")


def _print_plan(plan: RerunPlan) -> None:
    jobs = {
        step.name: "not known yet" if step.jobs is None else str(step.jobs) for step in plan.steps
    }
    print_table(
        ["step", "", "jobs to run", "taken over", "why"],
        [
            (
                (step.name, "runs", jobs[step.name], str(step.taken), step.reason)
                if step.runs
                else (step.name, "taken over", "0", "all", step.reason)
            )
            for step in plan.steps
        ],
        empty="",
    )


@app.command("rank")
@with_system
def rank(system: System, chain: ChainArgument, rank: RankArgument) -> None:
    """Change the rank of a whole chain, which is added to the ranks of its steps.

    This takes effect at once for running steps, and for the others when they start. A higher rank
    runs earlier.
    """
    uid = resolve_chain_uid(system, chain)
    reply = system.ask(lambda c: c.operator.rank_chain(uid, rank=rank))
    system.answer(
        reply,
        f"chain {reply.uid}: {in_full(reply.rank)} is added to the ranks of its steps",
    )


@app.command("cancel")
@with_system
@with_confirmation
def cancel(
    system: System,
    confirmation: Confirmation,
    chain: ChainArgument,
) -> None:
    """Cancel a chain and its running tasks. Its input stays.

    If the chain is uploading, the outputs that are not safe yet are deleted.
    """
    target = system.ask(lambda c: resolve_chain(c, chain))
    if not target.state.final:  # otherwise, the system refuses and says why
        work = "the work of its running jobs is lost"
        confirmation.require(f"cancel chain {describe_chain(target)}: {work}")
    reply = system.ask(lambda c: c.operator.cancel_chain(target.uid))
    system.answer(
        reply,
        f"chain {reply.uid}: cancellation requested, now {reply.state.value}",
    )


@app.command("delete")
@app.command("discard")
@with_system
@with_confirmation
def discard(
    system: System,
    confirmation: Confirmation,
    chain: ChainArgument,
) -> None:
    """Delete the data of a chain once it has ended.

    This deletes its outputs, its logs except those of steps with failed jobs, and its input as its
    template says. `chain delete` and `chain discard` are the same command.
    """
    target = system.ask(lambda c: resolve_chain(c, chain))
    if target.discarded:
        what = "the data that other chains were still reading; the rest was deleted before"
    else:
        what = (
            "its outputs, its logs except those of steps with failed jobs, and its input unless"
            " the template keeps it"
        )
    confirmation.require(f"delete the data of chain {describe_chain(target)}: {what}")
    reply = system.ask(lambda c: c.operator.discard_chain(target.uid))
    when = "now" if reply.state.final else f"when it has ended; it is {reply.state.value}"
    before = " (it was deleted before)" if target.discarded else ""
    system.answer(reply, f"chain {reply.uid}: its data are deleted {when}{before}")
