"""The commands `sluice ask …`."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import httpx
import typer

from sluice.cli.commands.human_tasks.human_step_lookup import find_browser, find_link, get_step_key
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import out, print_json, print_table
from sluice.contracts.common.states import BrowserState
from sluice.contracts.human_tasks.ask import MAX_LINK_DAYS
from sluice.contracts.human_tasks.supervision import (
    AskBrowser,
    AskLink,
    HumanStep,
    NewLink,
    SetBrowserState,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Human tasks: their progress, their links, and the browsers of annotators.",
)

TemplateArgument = Annotated[
    str, typer.Argument(metavar="TEMPLATE", help="The name of the template.")
]
StepArgument = Annotated[
    str, typer.Argument(metavar="STEP", help="The name of the step in the template.")
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="GROUP", help="The group of the step, if several groups have it."
    ),
]
BrowserArgument = Annotated[
    str, typer.Argument(metavar="BROWSER", help="The uid of the browser, or its beginning.")
]
ReasonOption = Annotated[str, typer.Option(help="The reason, for other people.")]


@app.command("list")
@with_system
def list_steps(system: System) -> None:
    """List the steps that ask people now, or asked people within the last 30 days.

    It counts the items that wait, are decided or were delivered to their chains. It also
    shows the answers, the median time of an answer in seconds, and the browsers.
    """
    page = system.ask(lambda c: c.operator.list_human_steps())
    if system.as_json:
        print_json(page)
        return
    columns = ["template", "step", "group", "waiting", "decided", "delivered", "answers"]
    print_table(
        [*columns, "last hour", "seconds", "browsers", "excluded"],
        [_step_row(step) for step in page.steps],
        empty="no step asks people: sluice:ask in a template makes one",
    )
    for step in page.steps:
        if step.reason:
            out.print(f"{step.template} {step.step}: {step.reason}")


@app.command("link")
@with_system
def create_link(
    system: System,
    template: TemplateArgument,
    step: StepArgument,
    *,
    days: Annotated[
        int,
        typer.Option(
            min=1, max=MAX_LINK_DAYS, help="The number of days for which the link opens the page."
        ),
    ] = 1,
    mine: Annotated[
        bool, typer.Option("--mine", help="Create a link for yourself: for one browser, for a day.")
    ] = False,
    group: GroupOption = None,
) -> None:
    """Create a link to the page on which people answer a step.

    The address is shown only once. Everyone who has it may answer.
    """

    async def create(connection: Connection) -> AskLink:
        step_key = await get_step_key(connection, template, step, group=group)
        link = await connection.operator.create_ask_link(*step_key, NewLink(days=days, mine=mine))
        address = httpx.URL(connection.url).join(link.url or "")
        return link.model_copy(update={"url": str(address)})

    link = system.ask(create)
    if system.as_json:
        print_json(link)
    else:
        typer.echo(link.url)  # a long address stays on one line


@app.command("links")
@with_system
def list_links(
    system: System, template: TemplateArgument, step: StepArgument, *, group: GroupOption = None
) -> None:
    """List the links to the page of a step, the newest first, without their keys.

    For each link, it shows how many browsers came by it, how many votes they have on an item, and
    how many answers they gave.
    """

    async def read(connection: Connection) -> list[AskLink]:
        step_key = await get_step_key(connection, template, step, group=group)
        return (await connection.operator.list_ask_links(*step_key)).links

    links = system.ask(read)
    if system.as_json:
        print_json(links)
        return
    now = datetime.now(UTC)
    print_table(
        ["link", "for", "made by", "made", "until", "state", "browsers", "votes", "answers"],
        [
            (str(link.uid)[:8], link.person or "whoever has it", link.created_by,
             local_time(link.created_at), local_time(link.expires_at),
             "open" if link.opens(now) else "ended", link.browsers, link.votes, link.answers)
            for link in links
        ],
        empty="no link: sluice ask link makes one",
    )  # fmt: skip


@app.command("end")
@with_system
@with_confirmation
def end_link(
    system: System,
    confirmation: Confirmation,
    link: Annotated[
        str, typer.Argument(metavar="LINK", help="The uid of the link, or its beginning.")
    ],
) -> None:
    """End a link, so that browsers that came by it are no longer admitted.

    Their answers still count.
    """
    uid = system.ask(lambda c: find_link(c, link))
    confirmation.require(f"end link {uid}: it will admit nobody")
    system.ask(lambda c: c.operator.end_ask_link(uid))
    system.answer({"ended": str(uid)}, f"link {str(uid)[:8]} is closed")


@app.command("browsers")
@with_system
def list_browsers(
    system: System, template: TemplateArgument, step: StepArgument, *, group: GroupOption = None
) -> None:
    """List the browsers that answered a step, and first those that seem to answer without looking.

    For each browser, it shows how many answers to gold items were right, and how many agree with
    those of others. It also shows the median time of an answer in seconds, and the score. A browser
    whose score exceeds its limit is excluded automatically.

    The column "link" is the link that the browser came by. The column "same vote" counts the other
    browsers that share its vote on an item.
    """

    async def read(connection: Connection) -> list[AskBrowser]:
        step_key = await get_step_key(connection, template, step, group=group)
        return (await connection.operator.list_ask_browsers(*step_key)).browsers

    browsers = system.ask(read)
    if system.as_json:
        print_json(browsers)
        return
    columns = [
        "browser",
        "who",
        "link",
        "same vote",
        "answers",
        "gold",
        "agrees",
        "seconds",
        "score",
        "state",
        "why",
    ]
    print_table(columns, [_browser_row(each) for each in browsers], empty="nobody has answered yet")


@app.command("exclude")
@with_system
@with_confirmation
def exclude(
    system: System,
    confirmation: Confirmation,
    browser: BrowserArgument,
    *,
    reason: ReasonOption = "",
) -> None:
    """Exclude a browser and revoke all its answers, which no longer count.

    Items on which too few others agree are asked again. Answers that a chain already has stay.
    """
    uid = system.ask(lambda c: find_browser(c, browser))
    confirmation.require(f"revoke all answers of browser {uid}")
    _set_state(system, str(uid), BrowserState.EXCLUDED, reason)


@app.command("admit")
@with_system
def admit(system: System, browser: BrowserArgument, *, reason: ReasonOption = "") -> None:
    """Let the answers of a browser count again, and never exclude it automatically."""
    _set_state(system, browser, BrowserState.COUNTED, reason)


def _set_state(system: System, uid_start: str, state: BrowserState, reason: str) -> None:
    new = plain_errors(lambda: SetBrowserState(state=state, reason=reason))

    async def change(connection: Connection) -> AskBrowser:
        uid = await find_browser(connection, uid_start)
        return await connection.operator.set_browser_state(uid, new)

    browser = system.ask(change)
    count = "count" if state is BrowserState.COUNTED else "no longer count"
    name = f"browser {str(browser.uid)[:8]}"
    system.answer(browser, f"answers of {name} ({browser.answer_count}) {count}")


@app.command("export")
@with_system
def export(
    system: System, template: TemplateArgument, step: StepArgument, *, group: GroupOption = None
) -> None:
    """Print all answers to a step as JSON lines, including those that do not count.

    Each line has the item, the answer, the browser, the time, how long the answer took, and what
    was decided.
    """

    async def write(connection: Connection) -> None:
        step_key = await get_step_key(connection, template, step, group=group)
        async with connection.operator.stream_answers(step_key) as answer:
            async for piece in answer.aiter_bytes():
                sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()

    system.ask(write)


def _step_row(step: HumanStep) -> tuple[object, ...]:
    counts = (step.waiting, step.decided, step.delivered, step.answer_count, step.last_hour)
    return (
        step.template,
        step.step,
        step.group,
        *counts,
        f"{step.seconds:.1f}",
        step.browsers,
        step.excluded,
    )


def _browser_row(browser: AskBrowser) -> tuple[object, ...]:
    gold, peers = (f"{right}/{total}" for right, total in (browser.gold, browser.peers))
    score = f"{browser.score:.1f} of {browser.limit:.1f}"
    by = "" if browser.set_by is None else f"{browser.set_by}: "
    return (
        str(browser.uid)[:8],
        browser.person or browser.user_agent[:40],
        str(browser.link_uid)[:8] if browser.link_uid else "",
        browser.same_vote_browsers,
        browser.answer_count,
        gold,
        peers,
        f"{browser.seconds:.1f}",
        score,
        browser.state,
        f"{by}{browser.reason}" if browser.reason or by else "",
    )
