"""Warnings about trigger cycles with published templates."""

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.trigger_cycles import describe_cycle, find_cycle
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Connection
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate


async def list_trigger_cycle_warnings(
    connection: Connection, candidate: StoredTemplate
) -> list[Finding]:
    """Return a warning if the template forms a trigger cycle with enabled, visible templates.

    A template that triggers itself is reported elsewhere, by the check of its text.
    """
    if candidate.plan.trigger is None:
        return []
    latest_templates = await templates.list_latest(connection, current_visibility(), disabled=False)
    others = [each.contract() for each in latest_templates if each.name != candidate.name]
    new = candidate.contract()
    cycle = find_cycle(new, [new, *others])
    if len(cycle) <= 2:
        return []
    message = (
        f"it forms a trigger cycle with templates that are published: {describe_cycle(cycle)}. Each"
        " takes the output of the previous one, until the intake starts no more of their chains"
    )
    return [Finding(message=message, severity="warning", file=candidate.main_path)]
