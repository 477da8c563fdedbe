"""The commands `sluice queue …`."""

import sys
from typing import Annotated

import typer

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.options import HomeOption, UrlOption
from sluice.cli.system import System, with_system
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_json, print_table
from sluice.contracts.messaging.queue_status import MAX_BODY_PREVIEW, ChooseMessages
from sluice.embedded.home import DEFAULT_HOME

app = typer.Typer(
    no_args_is_help=True,
    help="Messages between services, and dead letters, which no service could handle.",
)

QueueArgument = Annotated[str, typer.Argument(metavar="QUEUE", help="The name of the queue.")]
IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="MESSAGE", help="The ids of dead letters.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All dead letters of the queue.")]


@app.command("list")
@with_system
def list_queues(
    system: System,
) -> None:
    """List queues, with the numbers of waiting messages and of dead letters."""
    queues = system.ask(lambda c: c.operator.list_queues()).queues
    if system.as_json:
        print_json(queues)
        return
    print_table(
        ["queue", "handled by", "waiting", "dead"],
        [(queue.name, queue.consumer, queue.waiting, queue.dead) for queue in queues],
        empty="no queue",
    )


@app.command("show")
@with_system
def show(
    system: System,
    queue: QueueArgument,
    *,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="The maximum number of dead letters.")
    ] = 20,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Print the bodies of the messages as well.")
    ] = False,
) -> None:
    """Show the oldest dead letters of a queue, and why each of them failed."""
    dead_letters = system.ask(lambda c: c.operator.list_dead_messages(queue, limit=limit))
    if system.as_json:
        print_json(dead_letters)
        return
    print_table(
        ["message", "died", "bytes", "why"],
        [
            (
                message.id,
                local_time(message.died_at),
                message.size,
                message.reason,
            )
            for message in dead_letters.messages
        ],
        empty=f"no dead message in {queue}",
    )
    for message in dead_letters.messages if bodies else []:
        out.print(f"\n{message.id}:\n{message.body}")
        if message.cut:
            err.print(
                f"these are the first {MAX_BODY_PREVIEW} of its {message.size} bytes; all: sluice"
                " queue body"
                f" {queue} {message.id}"
            )
    if dead_letters.dead > len(dead_letters.messages):
        err.print(
            f"the oldest {len(dead_letters.messages)} of {dead_letters.dead} are shown: --limit"
            " shows more"
        )


@app.command("body")
def body(
    queue: QueueArgument,
    message: Annotated[
        str, typer.Argument(help="The id of the dead letter, as `queue show` shows it.")
    ],
    *,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
) -> None:
    """Print the whole body of a dead letter, as it was sent, to standard output."""
    system = System(url, home)
    sys.stdout.buffer.write(system.ask(lambda c: c.operator.get_dead_body(queue, message)))


@app.command("requeue")
@with_system
def requeue(
    system: System,
    queue: QueueArgument,
    ids: IdsArgument = None,
    *,
    every: AllOption = False,
) -> None:
    """Return dead letters to their queue, where they are tried like new messages."""
    choice = _choice(ids, every)
    moved = system.ask(lambda c: c.operator.requeue(queue, choice))
    system.answer(moved, f"{moved.moved} put back into {queue}, {moved.dead} dead now")


@app.command("drop")
@with_system
@with_confirmation
def drop(
    system: System,
    confirmation: Confirmation,
    queue: QueueArgument,
    ids: IdsArgument = None,
    *,
    every: AllOption = False,
) -> None:
    """Delete dead letters permanently. Their requests are never carried out."""
    choice = _choice(ids, every)
    dead = system.ask(lambda c: c.operator.list_dead_messages(queue, limit=1)).dead
    what = f"all {dead}" if every else f"{len(ids or [])} of {dead}"
    confirmation.require(
        f"drop {what} dead messages of {queue}: their requests are never carried out"
    )
    moved = system.ask(lambda c: c.operator.drop(queue, choice))
    system.answer(moved, f"{moved.moved} dropped from {queue}, {moved.dead} dead now")


def _choice(ids: list[str] | None, every: bool) -> ChooseMessages:
    if bool(ids) == every:
        raise typer.BadParameter("give the ids of messages, or --all")
    return ChooseMessages(ids="all" if every else ids or [])
