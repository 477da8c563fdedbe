"""Lookup of human task steps, their links and their browsers."""

import asyncio
from shlex import quote
from uuid import UUID

from sluice.cli.object_lookup import parse_uid, resolve_template, select_uid
from sluice.clientkit.connection import Connection
from sluice.clients.operator import HumanStepKey
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.text.visible_text import quoted


async def get_step_key(
    connection: Connection, template: str, step: str, *, group: str | None
) -> HumanStepKey:
    """Return the key of a human task step that has asked people.

    Args:
        connection: The connection to the system.
        template: The name of the template.
        step: The name of the step in the template.
        group: The group of the step. It may be None if a single group has such a step.

    Raises:
        NotFound: No such step has asked people.
        Conflict: Several groups have such a step, and ``group`` is None.
    """
    keys = await _list_step_keys(connection)
    matches = [each for each in keys if (each.template, each.step) == (template, step)]
    if group is not None:
        matches = [each for each in matches if each.group == group]
    if not matches and not any((each.template, each.step) == (template, step) for each in keys):
        await _refuse_inactive_step(connection, template, step)
    if not matches:
        known_steps = ", ".join(sorted({f"{each.template} {each.step}" for each in keys}))
        in_group = "" if group is None else f" of group {group}"
        raise NotFound(
            f"no step {quoted(step)} of template {quoted(template)}{in_group} asks people"
            + (f"; those that do: {known_steps}" if known_steps else "; none does")
        )
    if len(matches) > 1:
        groups = ", ".join(sorted(each.group for each in matches))
        raise Conflict(f"{template} {step} asks people of several groups: --group {groups}")
    return matches[0]


async def _refuse_inactive_step(connection: Connection, template: str, step: str) -> None:
    """Report a human task step of the template that has not asked anything lately.

    Raises:
        NotFound: The template has such a step.
    """
    try:
        plan = (await resolve_template(connection, template)).plan
    except NotFound:
        return
    if any(each.name == step and each.needs.ask is not None for each in plan.steps):
        raise NotFound(
            f"no chain has asked anything by step {quoted(step)} of template {quoted(template)}"
            " yet, or not within 30 days; there is a link as soon as one asks: sluice template"
            f" show {quote(template)} says when chains of it begin, and sluice chain start DATASET"
            f" {quote(template)} begins one now"
        )


async def find_link(connection: Connection, text: str) -> UUID:
    """Return the uid of a link, given the uid or its beginning.

    A complete uid is returned without a check.

    Raises:
        NotFound: No link has such a uid.
        AmbiguousName: Several links have such a uid.
    """
    if (uid := parse_uid(text)) is not None:
        return uid
    lists = await asyncio.gather(
        *(connection.operator.list_ask_links(*key) for key in await _list_step_keys(connection))
    )
    return select_uid(text, [link.uid for each in lists for link in each.links], kind="link")


async def find_browser(connection: Connection, text: str) -> UUID:
    """Return the uid of a browser, given the uid or its beginning, like ``find_link``."""
    if (uid := parse_uid(text)) is not None:
        return uid
    lists = await asyncio.gather(
        *(connection.operator.list_ask_browsers(*key) for key in await _list_step_keys(connection))
    )
    return select_uid(
        text, [browser.uid for each in lists for browser in each.browsers], kind="browser"
    )


async def _list_step_keys(connection: Connection) -> list[HumanStepKey]:
    steps = (await connection.operator.list_human_steps()).steps
    return [HumanStepKey(each.group, each.template, each.step) for each in steps]
