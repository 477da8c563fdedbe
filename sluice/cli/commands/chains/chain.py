"""The commands `sluice chain …`."""

import secrets
from contextlib import AsyncExitStack
from typing import Annotated
from uuid import uuid4

import typer

from sluice.cli.commands.chains.chain_watch import watch
from sluice.cli.commands.chains.get import get_chain
from sluice.cli.connection import Connection
from sluice.cli.consent import Consent, with_consent
from sluice.cli.errors import plain_errors
from sluice.cli.lookup import (
    chain_called,
    chain_in_short,
    template_called,
    the_chain,
    the_dataset,
)
from sluice.cli.moments import local_time
from sluice.cli.options import (
    AfterOption,
    ChainArgument,
    JobOption,
    ParamOption,
    RankArgument,
    RankOption,
)
from sluice.cli.output import err, out, print_json, print_table, tell_more
from sluice.cli.parameters import key_values, read_parameters, require_dataset
from sluice.cli.system import System, with_system
from sluice.cli.transfer.parameter_files import local_files, upload_parameter_files
from sluice.clients.chain_filters import ChainFilters
from sluice.contracts.chains.chains import (
    Chain,
    ChainCollection,
    ChainListState,
    ChainStep,
    RerunChain,
    RerunPlan,
)
from sluice.contracts.common.labels import entry_label, entry_state_text, role, short_label
from sluice.contracts.common.numbers import counted, in_full
from sluice.contracts.common.states import StepState
from sluice.contracts.templates.chain_requirements import NO_DATASET, DatasetFacts
from sluice.contracts.templates.scatters import value_in_short
from sluice.contracts.templates.templates import template_label

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
    filters = ChainFilters(state=state, template=template, owner=owner, meta=meta)
    page = system.ask(lambda c: c.operator.chains(name=name, after=after, limit=limit, **filters))
    if system.as_json:
        print_json(page.chains)
    else:
        print_table(
            ["chain", "data set", "template", "state", "steps", "since"],
            [_row(chain) for chain in page.chains],
            empty="no such chain: leave out filters to see all"
            if name is not None or any(filters.values())
            else "no chain yet: store a template, then register a data set (or `sluice run`)",
        )
    tell_more(page.after)


@app.command("show")
@with_system
def show(
    system: System,
    chain: ChainArgument,
) -> None:
    """Show a chain with its steps and data sets."""
    uid = the_chain(system, chain)
    found = system.ask(lambda c: c.operator.chain(uid))
    if system.as_json:
        print_json(found)
        return
    known = {
        dataset.uid: dataset
        for dataset in system.ask(lambda c: c.operator.datasets_of([d.uid for d in found.datasets]))
    }
    out.print(f"{found.dataset_name} through {_version(found)}: {found.outcome}")
    out.print(f"chain {found.uid}, since {local_time(found.created_at)}")
    if found.rank:
        out.print(f"rank: {in_full(found.rank)} is added to those of its steps")
    if found.rerun_of:
        out.print(f"a rerun of chain {found.rerun_of}")
    if found.reason:
        out.print(found.reason)
    if found.acknowledged:
        out.print(f"seen by {found.acknowledged.by}, {local_time(found.acknowledged.at)}")
    for name, value in sorted(found.params.items()):
        if value is not None:  # no value, or a default file, which is part of the template
            out.print(f"  {name}: {value_in_short(value)}")
    for name, ref in sorted(found.secrets.items()):
        out.print(f"  {name}: {ref}")
    for told in found.collected:
        out.print(f"  {told.output}: {_collected(told)}")
    print_table(
        ["step", "state", "task", "reason"],
        [(s.name, s.outcome, _task(found, s), _why(s)) for s in found.steps],
        empty="",
    )
    print_table(
        ["data set", "what it is", "status", "uid"],
        [
            (
                short_label(known[d.uid]) if d.uid in known else entry_label(found, d),
                role(d),
                entry_state_text(d, known.get(d.uid)),
                d.uid,
            )
            for d in found.datasets
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
    given = plain_errors(lambda: read_parameters(params or [], job=job))
    uid = the_dataset(system, first) if second else None

    async def question(connection: Connection) -> tuple[Chain, bool]:
        plan = (await template_called(connection, template)).plan
        require_dataset(
            plan, template, given=uid is not None, how="name the data set before the template"
        )
        found = None if uid is None else await connection.operator.dataset(uid)
        files = local_files(plan, given.values)
        subject = NO_DATASET if found is None else DatasetFacts.of(found)
        values = given.fitting(plan, subject, files=files)
        async with AsyncExitStack() as undo:
            name = f"{template if found is None else found.name}-{secrets.token_hex(3)}"
            values = await upload_parameter_files(connection, values, files, beside=name, undo=undo)
            chain, made = await connection.operator.request_new_chain(
                uid, template, params=values, rank=rank
            )
            if made:
                undo.pop_all()
        return chain, made

    chain, made = system.ask(question)
    system.answer(chain, f"chain {chain.uid}: {chain.state.value}")
    if not made:
        parameters = "these parameters" if params or job else "no other parameters"
        err.print(
            f"nothing was started: there is this chain of {chain.dataset_name}, {_version(chain)}"
            f" and {parameters} already"
        )
        raise typer.Exit(REPEATED)


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

    The command first shows which steps run. If something is not available any more, it starts
    nothing, and the exit status is 1.
    """
    uid = the_chain(system, chain)
    values = key_values(params or [], option="--param")
    asked = plain_errors(
        lambda: RerunChain(from_step=from_step, failed_only=failed_only, params=values, key=uuid4())
    )
    plan = system.ask(lambda c: c.operator.plan_rerun(uid, asked))
    if not system.as_json:
        _print_plan(plan)
    if dry_run and system.as_json:
        print_json(plan)
    if dry_run or plan.missing:
        for sentence in plan.missing:
            err.print(f"it cannot be run again: {sentence}")
        raise typer.Exit(1 if plan.missing else 0)
    found, _ = system.ask(lambda c: c.operator.rerun_chain(uid, asked))
    system.answer(found, f"chain {found.uid}: {found.state.value}, a rerun of {uid}")


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
    uid = the_chain(system, chain)
    found = system.ask(lambda c: c.operator.rank_chain(uid, rank))
    system.answer(
        found, f"chain {found.uid}: {in_full(found.rank)} is added to the ranks of its steps"
    )


@app.command("cancel")
@with_system
@with_consent
def cancel(
    system: System,
    consent: Consent,
    chain: ChainArgument,
) -> None:
    """Cancel a chain and its running tasks. Its input stays.

    If the chain is uploading, the outputs that are not safe yet are deleted.
    """
    meant = system.ask(lambda c: chain_called(c, chain))
    if not meant.state.final:  # otherwise, the system refuses and says why
        work = "the work of its running jobs is lost"
        consent.require(f"cancel chain {chain_in_short(meant)}: {work}")
    found = system.ask(lambda c: c.operator.cancel_chain(meant.uid))
    system.answer(found, f"chain {found.uid}: cancellation requested, now {found.state.value}")


@app.command("delete")
@app.command("discard")
@with_system
@with_consent
def discard(
    system: System,
    consent: Consent,
    chain: ChainArgument,
) -> None:
    """Delete the data of a chain once it has ended.

    This deletes its outputs, its logs except those of steps with failed jobs, and its input as its
    template says. `chain delete` and `chain discard` are the same command.
    """
    meant = system.ask(lambda c: chain_called(c, chain))
    if meant.discarded:
        what = "what other chains were still reading of it; the rest was deleted before"
    else:
        what = (
            "its outputs, its logs except those of steps with failed jobs, and its input unless"
            " the template keeps it"
        )
    consent.require(f"delete the data of chain {chain_in_short(meant)}: {what}")
    found = system.ask(lambda c: c.operator.discard_chain(meant.uid))
    when = "now" if found.state.final else f"when it has ended; it is {found.state.value}"
    before = " (it was deleted before)" if meant.discarded else ""
    system.answer(found, f"chain {found.uid}: its data are deleted {when}{before}")


def _task(chain: Chain, step: ChainStep) -> str:
    """Return the name of the task for commands about tasks."""
    return "" if step.task_uid is None else f"{chain.dataset_name}.{step.name}"


def _why(step: ChainStep) -> str:
    if step.taken_from is not None:
        return f"taken over from chain {step.taken_from}"
    return step.reason or (f"{counted(step.failed_jobs, 'job')} failed" if step.failed_jobs else "")


def _version(chain: Chain) -> str:
    return template_label(chain.template, chain.template_version)


def _row(chain: Chain) -> tuple[object, ...]:
    return (
        chain.uid,
        chain.dataset_name,
        _version(chain),
        chain.outcome,
        _steps(chain),
        local_time(chain.created_at),
    )


def _steps(chain: Chain) -> str:
    return f"{sum(step.state is StepState.FINISHED for step in chain.steps)}/{len(chain.steps)}"


def _collected(told: ChainCollection) -> str:
    if told.files is not None:
        return f"{counted(told.files, 'file')} collected in {told.name}"
    return f"not collected in {told.name}: {told.reason}" if told.reason else "to be collected"
