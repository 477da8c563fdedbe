"""The commands `sluice step …`."""

import getpass
from typing import Annotated

import typer

from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import print_json, print_table
from sluice.contracts.common.numbers import in_full
from sluice.contracts.jobs.steps import (
    DISABLED,
    SetStepPriority,
    StepLoad,
    StepPriority,
    describe_disabled_step,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Steps over all chains: how much work waits for them, and their priorities.",
)

TemplateOption = Annotated[
    str | None, typer.Option(help="Only the step of this template. The default is all templates.")
]
ReasonOption = Annotated[str, typer.Option(help="The reason, for other people.")]
StepArgument = Annotated[
    str, typer.Argument(metavar="STEP", help="The name of the step in the template.")
]


@app.command("list")
@with_system
def list_steps(system: System) -> None:
    """List the steps of published templates, and other steps that have tasks.

    It shows how many jobs of a step wait and since when, and how many are with how many pilots. It
    also shows how long a job takes (mean of the last day), and the priority of the step.
    """
    page = system.ask(lambda c: c.operator.list_steps())
    if system.as_json:
        print_json(page)
        return
    columns = ["step", "template", "waiting", "since", "with pilots", "pilots", "mean", "priority"]
    print_table(
        columns,
        [_row(load) for load in page.steps],
        empty="no step: publish a template first (sluice template publish)",
    )


@app.command("priority", context_settings={"ignore_unknown_options": True})
@with_system
def priority(
    system: System,
    step: StepArgument,
    priority: Annotated[
        float,
        typer.Argument(
            help="0 or more, which is added to the rank of its tasks. -1 disables the step."
        ),
    ],
    *,
    template: TemplateOption = None,
    reason: ReasonOption = "",
) -> None:
    """Set the priority of a step, which ranks it against others in all chains, even running ones.

    With -1, the step is disabled: running jobs finish, and no other job of it starts until it
    has another priority.
    """
    _set(system, step, priority, template=template, reason=reason)


@app.command("disable")
@with_system
def disable(
    system: System,
    step: StepArgument,
    *,
    template: TemplateOption = None,
    reason: ReasonOption = "",
) -> None:
    """Disable a step, like priority -1."""
    _set(system, step, DISABLED, template=template, reason=reason)


@app.command("enable")
@with_system
def enable(system: System, step: StepArgument, *, template: TemplateOption = None) -> None:
    """Enable a step again, like priority 0."""
    _set(system, step, 0.0, template=template, reason="")


def _set(system: System, step: str, priority: float, *, template: str | None, reason: str) -> None:
    new = plain_errors(
        lambda: SetStepPriority(
            priority=priority, template=template, reason=reason, by=getpass.getuser()
        )
    )
    page = system.ask(lambda c: c.operator.prioritise_step(step, new))
    own = next(
        (each for each in page.priorities if (each.step, each.template) == (step, template)), None
    )
    system.answer(page, _priority_text(step, own))


def _priority_text(step: str, own_priority: StepPriority | None) -> str:
    if own_priority is None or own_priority.priority == 0:
        return f"step {step}: no priority of its own"
    return (
        f"{describe_disabled_step(own_priority)}; running jobs finish"
        if own_priority.is_disabled
        else f"step {step}: {in_full(own_priority.priority)} is added to the rank of its tasks"
    )


def _row(load: StepLoad) -> tuple[object, ...]:
    waiting_since = local_time(load.oldest)
    mean = "" if load.mean is None else f"{load.mean:.1f} s"
    priority = "" if load.priority is None else in_full(load.priority.priority)
    if load.is_disabled:
        priority = "disabled"
    counts = (load.waiting, waiting_since, load.in_flight, load.pilots)
    return (load.step, load.template, *counts, mean, priority)
