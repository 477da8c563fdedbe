"""Which templates a trigger starts, and with which append-only data sets."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sluice.contracts.access.owners import may_take
from sluice.contracts.common.numbers import format_count
from sluice.contracts.data.append_only import GrowthTrigger
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.templates.matching import facts_of, find_unmet_condition
from sluice.contracts.templates.templates import Template
from wfms.intake.domain.matching import select_latest


def select_triggered_templates(templates: Iterable[Template]) -> list[Template]:
    """Return the latest versions of templates that have a trigger: growth or a schedule."""
    return [template for template in select_latest(templates) if template.plan.trigger is not None]


def select_datasets(
    template: Template, append_only: Iterable[AppendOnlyDataset]
) -> list[AppendOnlyDataset]:
    """Return the append-only data sets of which the template takes slices."""
    return [
        one
        for one in append_only
        if template.plan.takes_dataset
        and template.plan.match
        and may_take(template.group, one.dataset.group, one.dataset.shared_with)
        and find_unmet_condition(template.plan, facts_of(one.dataset)) is None
    ]


def is_triggered(
    every: GrowthTrigger, one: AppendOnlyDataset, *, template: str, now: datetime
) -> bool:
    """Return whether the growth of the data set triggers the template.

    It does if there are enough new files, or any new file after enough hours without a slice. For
    a template that has had no slice yet, all files are new, and the hours count from the first
    files.
    """
    new, reader = one.new_to(template), one.reader(template)
    if new <= 0:
        return False
    if every.files is not None and new >= every.files:
        return True
    last = one.since if reader is None else reader.last_at
    return every.hours is not None and now - last >= timedelta(hours=every.hours)


def describe_outcome(
    cut: Sequence[AppendOnlyDataset], blocked_datasets: Sequence[AppendOnlyDataset] = ()
) -> str:
    """Return the outcome of a schedule in words.

    ``cut`` has the data sets that gave a slice. ``blocked_datasets`` has those that gave none
    because of a trigger cycle.
    """
    parts = [f"{format_count(len(cut), 'slice')} of {_names(cut)}"] if cut else []
    if blocked_datasets:
        parts.append(
            f"no slice of {_names(blocked_datasets)}, because the templates form a trigger cycle"
        )
    return "; ".join(parts) or "nothing was new"


def _names(sets: Sequence[AppendOnlyDataset]) -> str:
    return ", ".join(one.dataset.name for one in sets)
