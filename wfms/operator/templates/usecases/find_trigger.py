"""Find the trigger of a template."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, may_take
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.data.append_only import ScheduleState, TemplateTrigger, TriggerDataset
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.templates.matching import describe_trigger, facts_of, find_unmet_condition
from sluice.contracts.templates.trigger_cycles import why_cycle
from sluice.scheduling.schedules import next_time
from sluice.servicekit.access.delegation import current_visibility
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate


async def find_trigger(
    context: OperatorContext, template: StoredTemplate
) -> TemplateTrigger | None:
    """Return the trigger of a template, or None if it has none.

    What other services do not answer is left out.
    """
    plan = template.plan
    if plan.trigger is None:
        return None
    state, sets = await asyncio.gather(
        _find_state(context, template), _list_datasets(context, template)
    )
    schedule = plan.trigger.schedule
    runs = schedule is not None and template.disabled_at is None
    now = context.database.clock.now()
    return TemplateTrigger(
        kind="schedule" if schedule is not None else "growth",
        words=describe_trigger(plan.trigger),
        next_at=next_time(schedule or "", plan.trigger.zone, after=now) if runs else None,
        last_at=None if state is None else state.last_at,
        outcome="" if state is None else state.outcome,
        sets=sets,
    )


async def _find_state(context: OperatorContext, template: StoredTemplate) -> ScheduleState | None:
    try:
        return await context.intake.get_schedule(template.name)
    except ServiceError:
        return None


async def _list_datasets(
    context: OperatorContext, template: StoredTemplate
) -> list[TriggerDataset]:
    plan = template.plan
    if not plan.takes_dataset or not plan.match:
        return []
    try:
        datasets = await context.dms.list_append_only_datasets(generations=True)
    except ServiceError:
        return []
    sets = [
        one
        for one in datasets
        if may_take(template.group, one.dataset.group, one.dataset.shared_with)
        and find_unmet_condition(plan, facts_of(one.dataset)) is None
    ]
    reasons = await _find_cycle_reasons(context, template, sets)
    return [_build_dataset(one, template.name, reasons.get(one.dataset.uid)) for one in sets]


async def _find_cycle_reasons(
    context: OperatorContext, template: StoredTemplate, sets: Sequence[AppendOnlyDataset]
) -> dict[UUID, str | None]:
    """Return by data set why the intake does not give its new files to the template.

    All templates count, but those that the principal may not see are not named.
    """
    try:
        max_generations = await context.intake.get_max_generations() if sets else 0
    except ServiceError:
        return {}
    async with context.database.connection() as connection:
        latest_templates = await templates.list_latest(connection, ALL, disabled=False)
    enabled, visibility = [each.contract() for each in latest_templates], current_visibility()
    return {
        one.dataset.uid: why_cycle(
            template.contract(),
            one,
            enabled,
            max_generations=max_generations,
            visibility=visibility,
        )
        for one in sets
    }


def _build_dataset(
    append_only: AppendOnlyDataset, template: str, reason: str | None
) -> TriggerDataset:
    reader = append_only.reader(template)
    return TriggerDataset(
        uid=append_only.dataset.uid,
        name=append_only.dataset.name,
        files=append_only.dataset.count_files,
        new=append_only.new_to(template),
        slices=0 if reader is None else reader.slices,
        last_at=None if reader is None else reader.last_at,
        last=None if reader is None else reader.last,
        blocked_reason=reason,
    )
