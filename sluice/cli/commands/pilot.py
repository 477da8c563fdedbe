"""`sluice pilot …`"""

from typing import Annotated

import typer

from sluice.cli.lookup import the_pilot
from sluice.cli.options import PilotArgument
from sluice.cli.output import err, print_json, print_table
from sluice.cli.system import System, with_system
from sluice.contracts.pilots import Pilot

app = typer.Typer(no_args_is_help=True, help="The agents that run jobs on compute nodes.")


@app.command("list")
@with_system
def list_pilots(
    system: System,
    *,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 200,
    after: Annotated[
        str | None, typer.Option(help="Go on where the list before ended, as it says.")
    ] = None,
) -> None:
    """Pilots, what they have and what they have done: those that are there, lost ones that nobody
    has acknowledged, and others that ended within a day."""
    page = system.ask(lambda c: c.operator.pilots(after=after, limit=limit))
    pilots = page.pilots
    if page.next is not None:
        err.print(f"there are more: --after {page.next}")
    if system.as_json:
        print_json(pilots)
        return
    jobs = ("slots", "running", "ahead", "finished", "failed", "seen")
    has_gpus = any(pilot.resources.gpus for pilot in pilots)
    print_table(
        ["pilot", "name", "host", "state", "sandbox", *(["gpus"] if has_gpus else []), *jobs],
        [_row(pilot, has_gpus=has_gpus) for pilot in pilots],
        empty="no pilot: start one with `sluice-pilot` on a compute node",
    )


@app.command("drain")
@with_system
def drain(
    system: System,
    pilot: PilotArgument,
) -> None:
    """Let a pilot finish what it has and end."""
    uid = the_pilot(system, pilot)
    system.ask(lambda c: c.operator.drain_pilot(uid))
    system.answer(
        {"pilot": str(uid), "draining": True},
        "it takes nothing more, and ends when it is done",
    )


def _row(pilot: Pilot, *, has_gpus: bool) -> tuple[object, ...]:
    """``ahead``: jobs that it has, and that wait for what runs there. ``has_gpus``: does any pilot
    of the table have some?"""
    ahead = max(0, pilot.running + pilot.leased - pilot.busy_slots)
    jobs = (pilot.slots, pilot.busy_slots, ahead, pilot.finished, pilot.failed)
    node = (pilot.name, pilot.host, pilot.state.value, pilot.sandbox.value)
    gpus = (pilot.resources.gpus_in_words,) if has_gpus else ()
    return (pilot.uid, *node, *gpus, *jobs, f"{pilot.seen_at:%F %T}")
