"""Starts what is due: slices of data sets that have grown enough, and what has a schedule.

Each file is given once because the DMS cuts a slice and notes what is used up in one transaction,
and the slice comes in as any data set that has closed. A time of a schedule is seen to once because
what is made for it is called after it, and the note that it was seen to commits with what follows
from it. Of times that have passed while nothing ran, the last one is made up. Templates that form a
ring begin so often one after the other, and then no more (``why_held``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from sluice.contracts.chains import NewChain
from sluice.contracts.datasets import (
    Dataset,
    NewDataset,
)
from sluice.contracts.owners import EVERYONE
from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.rings import why_held
from sluice.contracts.standing import CutSlice, Due, Every
from sluice.contracts.standing_list import Standing
from sluice.contracts.states import DatasetState
from sluice.contracts.templates import Template
from sluice.schedules import last_time
from wfms.intake.db.intake import insert_handover
from wfms.intake.db.schedules import (
    Spec,
    begin_schedule,
    forget_others,
    move_schedule,
    read_until,
)
from wfms.intake.domain.due import due_templates, is_due, outcome_of, sets_of
from wfms.intake.usecases.context import IntakeContext

log = structlog.get_logger(__name__)

_GONE = {DatasetState.DELETING, DatasetState.DELETED}


async def start_due(context: IntakeContext) -> bool:
    """Precondition: none; several instances may do it at once. Effect: slices are cut for templates
    that are due by growth; for those whose time has come, slices, or a chain of values that waits
    for its handing over. Schedules of templates that are not there, or disabled, are forgotten, and
    begin anew. Messages: none. Errors: ``NotAvailable`` where the DMS or the operator service does
    not answer. False: what is new comes by itself."""
    templates = due_templates((await context.operator.templates()).templates)
    scheduled = [each.name for each in templates if each.plan.due and each.plan.due.schedule]
    async with context.database.connection() as connection:
        await forget_others(connection, scheduled)
    takes = any(template.plan.takes_dataset for template in templates)
    standing = await context.dms.standing(generations=True) if takes else []
    for template in templates:
        due, sets = template.plan.due, []
        for one in sets_of(template, standing):
            held = why_held(template, one, templates, most=context.generations)
            sets.append(_Taken(one, held))
        if due is None:
            continue
        if due.every is not None:
            await _start_grown(context, template, due.every, sets)
        else:
            await _start_scheduled(context, template, due, sets)
    return False


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a template takes slices of. ``held``: why it is given none by itself."""

    one: Standing
    held: str | None


async def _start_grown(
    context: IntakeContext, template: Template, every: Every, sets: Sequence[_Taken]
) -> None:
    now = context.database.clock.now()
    for taken in sets:
        if is_due(every, taken.one, template=template.name, now=now):
            await _cut(context, template, taken, all_files=every.all)


async def _cut(
    context: IntakeContext,
    template: Template,
    taken: _Taken,
    *,
    all_files: bool = False,
    occasion: str | None = None,
) -> bool:
    """Is there a slice for it now?"""
    one = taken.one
    if taken.held is not None:
        log.debug("slice.held", template=template.name, of=one.dataset.name, reason=taken.held)
        return False
    cut = CutSlice(
        reader=template.name, after=one.used_by(template.name), all=all_files, occasion=occasion
    )
    try:
        made = await context.dms.cut_slice(one.dataset.uid, cut)
    except (Conflict, NotFound) as refusal:  # it is being deleted
        log.warning("slice.refused", template=template.name, reason=refusal.detail)
        return False
    if made is not None:
        log.info("slice.cut", template=template.name, dataset=str(made), of=one.dataset.name)
    return made is not None


async def _start_scheduled(
    context: IntakeContext, template: Template, due: Due, sets: Sequence[_Taken]
) -> None:
    database, spec = context.database, Spec(template.name, f"{due.schedule} {due.zone}")
    now = database.clock.now()
    async with database.connection() as connection:
        until = await read_until(connection, spec)
        if until is None:
            await begin_schedule(connection, spec, now=now)
            return
    time = last_time(due.schedule or "", due.zone, after=until, until=now)
    if time is None:
        return
    seen = _Seen(spec, until, time)
    if template.plan.takes_dataset:
        await _start_slices(context, template, sets, seen)
    else:
        await _start_chain(context, template, seen)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A time of a schedule that is seen to; ``until``: up to where it was before."""

    spec: Spec
    until: datetime
    time: datetime


async def _start_slices(
    context: IntakeContext, template: Template, sets: Sequence[_Taken], seen: _Seen
) -> None:
    occasion = seen.time.isoformat()
    cut = [each.one for each in sets if await _cut(context, template, each, occasion=occasion)]
    held = [each.one for each in sets if each.held is not None]
    async with context.database.connection() as connection:
        await move_schedule(
            connection, seen.spec, old=seen.until, new=seen.time, outcome=outcome_of(cut, held)
        )


async def _start_chain(context: IntakeContext, template: Template, seen: _Seen) -> None:
    dataset = await _stand_in(context, template, seen.time)
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
            seen.spec,
            old=seen.until,
            new=seen.time,
            outcome=f"a chain of {dataset.name}",
        )
        if moved:
            await insert_handover(transaction.connection, chain)
            log.info("schedule.started", template=template.name, dataset=str(dataset.uid))


async def _stand_in(context: IntakeContext, template: Template, time: datetime) -> Dataset:
    """An empty data set that stands for the chain's, called after the template and the time, so
    that a repetition finds it. Another name where that one is taken, or was deleted."""
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
        if dataset.state not in _GONE:
            return await context.dms.close_dataset(dataset.uid, files=0)
