"""Start chains that are triggered by the growth of data sets or by a schedule.

Each file is used once by each template, because the DMS cuts a slice and records the used files in
one transaction. The slice comes in like any data set that was closed. Each time of a schedule has
one effect: what is created for it is named after it, and the record of the time commits with what
follows from it. Of times that passed while nothing ran, only the last one is made up for. Trigger
cycles stop after a number of chains (``why_cycle``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.append_only import CutSlice, GrowthTrigger, Trigger
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.contracts.templates.templates import Template
from sluice.contracts.templates.trigger_cycles import why_cycle
from sluice.scheduling.schedules import last_time
from wfms.intake.db.intake import insert_handover
from wfms.intake.db.schedules import (
    Spec,
    begin_schedule,
    find_last_handled,
    forget_others,
    move_schedule,
)
from wfms.intake.domain.triggers import (
    describe_outcome,
    is_triggered,
    select_datasets,
    select_triggered_templates,
)
from wfms.intake.usecases.context import IntakeContext

log = structlog.get_logger(__name__)

_DELETED_STATES = {DatasetState.DELETING, DatasetState.DELETED}


async def start_triggered_chains(context: IntakeContext) -> bool:
    """Start what triggers ask for; several instances may do it at the same time.

    Templates whose triggers fire get slices. A scheduled template that takes no data set gets a
    chain, which waits for its handover. Schedules of templates that are missing or disabled are
    deleted, and begin again later. Always returns False: a later round finds what is new.

    Raises:
        NotAvailable: The DMS or the operator service does not answer.
    """
    templates = select_triggered_templates((await context.operator.list_templates()).templates)
    scheduled = [
        each.name for each in templates if each.plan.trigger and each.plan.trigger.schedule
    ]
    async with context.database.connection() as connection:
        await forget_others(connection, scheduled)
    takes = any(template.plan.takes_dataset for template in templates)
    append_only_datasets = (
        await context.dms.list_append_only_datasets(generations=True) if takes else []
    )
    for template in templates:
        trigger, sets = template.plan.trigger, []
        for dataset in select_datasets(template, append_only_datasets):
            blocked_reason = why_cycle(
                template, dataset, templates, max_generations=context.generations
            )
            sets.append(_TriggerDataset(dataset, blocked_reason))
        if trigger is None:
            continue
        if trigger.every is not None:
            await _start_grown(context, template, trigger.every, sets)
        else:
            await _start_scheduled(context, template, trigger, sets)
    return False


@dataclass(frozen=True, slots=True)
class _TriggerDataset:
    """A data set to cut slices of; ``blocked_reason`` says why none is cut automatically."""

    append_only: AppendOnlyDataset
    blocked_reason: str | None


async def _start_grown(
    context: IntakeContext,
    template: Template,
    every: GrowthTrigger,
    sets: Sequence[_TriggerDataset],
) -> None:
    now = context.database.clock.now()
    for source in sets:
        if is_triggered(every, source.append_only, template=template.name, now=now):
            await _cut(context, template, source, all_files=every.all)


async def _cut(
    context: IntakeContext,
    template: Template,
    source: _TriggerDataset,
    *,
    all_files: bool = False,
    occasion: str | None = None,
) -> bool:
    """Cut a slice, and return whether there is one."""
    append_only = source.append_only
    if source.blocked_reason is not None:
        log.debug(
            "slice.blocked",
            template=template.name,
            of=append_only.dataset.name,
            reason=source.blocked_reason,
        )
        return False
    request = CutSlice(
        reader=template.name,
        after=append_only.used_by(template.name),
        all=all_files,
        occasion=occasion,
    )
    try:
        slice_uid = await context.dms.cut_slice(append_only.dataset.uid, request)
    except (Conflict, NotFound) as refusal:  # the data set is being deleted
        log.warning("slice.refused", template=template.name, reason=refusal.detail)
        return False
    if slice_uid is not None:
        log.info(
            "slice.cut", template=template.name, dataset=str(slice_uid), of=append_only.dataset.name
        )
    return slice_uid is not None


async def _start_scheduled(
    context: IntakeContext, template: Template, trigger: Trigger, sets: Sequence[_TriggerDataset]
) -> None:
    database, spec = context.database, Spec(template.name, f"{trigger.schedule} {trigger.zone}")
    now = database.clock.now()
    async with database.connection() as connection:
        until = await find_last_handled(connection, spec)
        if until is None:
            await begin_schedule(connection, spec, now=now)
            return
    time = last_time(trigger.schedule or "", trigger.zone, after=until, until=now)
    if time is None:
        return
    schedule_time = _ScheduleTime(spec, until, time)
    if template.plan.takes_dataset:
        await _start_slices(context, template, sets, schedule_time)
    else:
        await _start_chain(context, template, schedule_time)


@dataclass(frozen=True, slots=True)
class _ScheduleTime:
    """A time of a schedule that is being handled; ``until`` is the last handled time before it."""

    spec: Spec
    until: datetime
    time: datetime


async def _start_slices(
    context: IntakeContext,
    template: Template,
    sets: Sequence[_TriggerDataset],
    schedule_time: _ScheduleTime,
) -> None:
    occasion = schedule_time.time.isoformat()
    cut = [
        source.append_only
        for source in sets
        if await _cut(context, template, source, occasion=occasion)
    ]
    blocked = [source.append_only for source in sets if source.blocked_reason is not None]
    async with context.database.connection() as connection:
        await move_schedule(
            connection,
            schedule_time.spec,
            old=schedule_time.until,
            new=schedule_time.time,
            outcome=describe_outcome(cut, blocked),
        )


async def _start_chain(
    context: IntakeContext, template: Template, schedule_time: _ScheduleTime
) -> None:
    dataset = await _register_placeholder(context, template, schedule_time.time)
    chain = NewChain(
        dataset=dataset,
        template_id=template.id,
        template=template.name,
        template_version=template.version,
        plan=template.plan,
        owner=template.owner,
        group=template.group,
    )
    async with context.database.transaction() as transaction:
        moved = await move_schedule(
            transaction.connection,
            schedule_time.spec,
            old=schedule_time.until,
            new=schedule_time.time,
            outcome=f"a chain of {dataset.name}",
        )
        if moved:
            await insert_handover(transaction.connection, chain)
            log.info("schedule.started", template=template.name, dataset=str(dataset.uid))


async def _register_placeholder(
    context: IntakeContext, template: Template, time: datetime
) -> Dataset:
    """Create an empty data set as a placeholder for the chain's input.

    Its name has the template and the time, so that a repetition finds it. If that name is taken, or
    its data set was deleted, a number follows.
    """
    name, number = f"{template.name[:150]}-{template.version}-{time:%Y%m%dT%H%MZ}", 1
    while True:
        new = NewDataset(
            name=name if number == 1 else f"{name}-{number}",
            meta={"scheduled": time.isoformat()},
            on_demand=True,
            owner=template.owner,
            group=None if template.group == EVERYONE else template.group,
        )
        number += 1
        try:
            dataset = await context.dms.register_dataset(new)
        except Conflict:
            continue
        if dataset.state not in _DELETED_STATES:
            return await context.dms.close_dataset(dataset.uid, files=0)
