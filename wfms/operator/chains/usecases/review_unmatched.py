"""Unmatched data sets with the reasons of the current templates, and competing templates."""

import asyncio
from collections.abc import Iterable

import structlog

from sluice.contracts.chains.intake import RejectionReason, Tie, Unmatched, UnmatchedList
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.templates.matching import (
    bind,
    facts_of,
    find_rejection_reason,
    missing_parameters_text,
)
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.errors import disabled_text
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.read_templates import read_templates

log = structlog.get_logger(__name__)

#: Unmatched data sets that are searched for those that one template would take.
_MAX_UNMATCHED = 1000


async def review_unmatched(
    context: OperatorContext, *, limit: int, template: str | None = None
) -> UnmatchedList:
    """Return unmatched data sets, newest first, or only those that a template would take now.

    Raises:
        NotAvailable: The intake does not answer.
    """
    unmatched_list, templates = await asyncio.gather(
        context.intake.list_unmatched(limit=limit if template is None else _MAX_UNMATCHED),
        read_templates(context.database, disabled=True),
    )
    datasets = [
        _with_rejection_reasons(unmatched, templates) for unmatched in unmatched_list.datasets
    ]
    if template is None:
        return UnmatchedList(datasets=datasets, total=unmatched_list.total)
    matching = [unmatched for unmatched in datasets if template in takers(unmatched)]
    return UnmatchedList(datasets=matching[:limit], total=len(matching))


def takers(unmatched: Unmatched) -> list[str]:
    """Return the templates that would take the data set now; the first one would get it."""
    return [judged.template for judged in unmatched.rejection_reasons or [] if not judged.reason]


async def count_waiting(context: OperatorContext, template: StoredTemplate) -> int:
    """Return how many unmatched data sets the template would take now, or 0 if it is not known."""
    if not template.plan.match or template.disabled_at is not None:
        return 0
    try:
        waiting = await review_unmatched(context, limit=_MAX_UNMATCHED, template=template.name)
        return waiting.total or 0
    except ServiceError as error:
        log.warning("intake.unmatched_unavailable", reason=error.detail)
        return 0


async def current_ties(context: OperatorContext) -> list[Tie]:
    """Return the ties between the latest versions of templates.

    Raises:
        NotAvailable: The intake does not answer.
    """
    ties_of_all_versions, templates = await asyncio.gather(
        context.intake.list_ties(), read_templates(context.database)
    )
    latest_ids = {template.id for template in templates}
    return [
        tie for tie in ties_of_all_versions.ties if {tie.template_id, tie.other_id} <= latest_ids
    ]


def _with_rejection_reasons(unmatched: Unmatched, templates: Iterable[StoredTemplate]) -> Unmatched:
    if unmatched.dataset is None:
        return unmatched
    dataset = unmatched.dataset
    ordered = sorted(templates, key=lambda template: (-template.plan.priority, template.name))
    rejection_reasons = [
        RejectionReason(
            template=template.name,
            version=template.version,
            reason=_explain_match(template, dataset),
        )
        for template in ordered
    ]
    return unmatched.model_copy(
        update={
            "rejection_reasons": sorted(
                rejection_reasons, key=lambda judgement: bool(judgement.reason)
            )
        }
    )


def _explain_match(template: StoredTemplate, dataset: Dataset) -> str:
    facts = facts_of(dataset)
    reason = find_rejection_reason(dataset, template.plan, template=template.name)
    if reason is not None:
        return reason
    if template.disabled_at is not None:
        return f"matches, and {disabled_text(template.name, template.disabled_at)}"
    parameters, missing = bind(template.plan, facts)
    if missing:
        return missing_parameters_text(missing)
    broken = unmet(template.plan, DatasetFacts.of(dataset), parameters)
    return f"matches, but {requires_text(broken)}" if broken else ""
