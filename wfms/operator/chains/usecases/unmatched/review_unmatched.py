"""Review the unmatched data sets: why the current templates do not take them."""

import asyncio
from collections.abc import Iterable

from sluice.contracts.chains.intake import RejectionReason, Unmatched, UnmatchedList
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.templates.matching import (
    bind,
    facts_of,
    find_rejection_reason,
    missing_parameters_text,
)
from wfms.operator.chains.domain.takers import list_takers
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.errors import disabled_text
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.list_templates import list_templates

#: Unmatched data sets that are searched for those that one template would take.
MAX_UNMATCHED = 1000


async def review_unmatched(
    context: OperatorContext, *, limit: int, template: str | None = None
) -> UnmatchedList:
    """Return unmatched data sets, newest first, or only those that a template would take now.

    Raises:
        NotAvailable: The intake does not answer.
    """
    unmatched_list, templates = await asyncio.gather(
        context.intake.list_unmatched(limit=limit if template is None else MAX_UNMATCHED),
        list_templates(context.database, disabled=True),
    )
    datasets = [
        _with_rejection_reasons(unmatched, templates) for unmatched in unmatched_list.datasets
    ]
    if template is None:
        return UnmatchedList(datasets=datasets, total=unmatched_list.total)
    matching = [unmatched for unmatched in datasets if template in list_takers(unmatched)]
    return UnmatchedList(datasets=matching[:limit], total=len(matching))


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
