"""Lookup of human task steps, their links and their browsers."""

import asyncio
from shlex import quote
from uuid import UUID

from sluice.cli.connection import Connection
from sluice.cli.lookup import SHORTEST, template_called
from sluice.clients.operator.asking import HumanStepKey
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.text.visible_text import quoted


async def find_asking(
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
    places = await _places(connection)
    found = [each for each in places if (each.template, each.step) == (template, step)]
    if group is not None:
        found = [each for each in found if each.group == group]
    if not found and not any((each.template, each.step) == (template, step) for each in places):
        await _refuse_unasked(connection, template, step)
    if not found:
        known = ", ".join(sorted({f"{each.template} {each.step}" for each in places}))
        of = "" if group is None else f" of group {group}"
        raise NotFound(
            f"no step {quoted(step)} of template {quoted(template)}{of} asks people"
            + (f"; those that do: {known}" if known else "; none does")
        )
    if len(found) > 1:
        groups = ", ".join(sorted(each.group for each in found))
        raise Conflict(f"{template} {step} asks people of several groups: --group {groups}")
    return found[0]


async def _refuse_unasked(connection: Connection, template: str, step: str) -> None:
    """Report a human task step of the template that has not asked anything lately.

    Raises:
        NotFound: The template has such a step.
    """
    try:
        plan = (await template_called(connection, template)).plan
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
        Conflict: Several links have such a uid.
    """
    if (uid := _uid(text)) is not None:
        return uid
    lists = await asyncio.gather(
        *(connection.operator.ask_links(of) for of in await _places(connection))
    )
    return _one(text, [link.uid for each in lists for link in each.links], what="link")


async def find_device(connection: Connection, text: str) -> UUID:
    """Return the uid of a browser, given the uid or its beginning, like ``find_link``."""
    if (uid := _uid(text)) is not None:
        return uid
    lists = await asyncio.gather(
        *(connection.operator.ask_devices(of) for of in await _places(connection))
    )
    return _one(text, [device.uid for each in lists for device in each.devices], what="browser")


async def _places(connection: Connection) -> list[HumanStepKey]:
    steps = (await connection.operator.asking_steps()).steps
    return [HumanStepKey(each.group, each.template, each.step) for each in steps]


def _uid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _one(text: str, uids: list[UUID], *, what: str) -> UUID:
    found = [uid for uid in uids if len(text) >= SHORTEST and str(uid).startswith(text.lower())]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(f"there is no {what} {quoted(text)}; its uid, or {SHORTEST} or more of that")
    raise Conflict(f"{quoted(text)} may be several: {', '.join(map(str, sorted(found)))}")
