"""The choice of the template for a data set, and of its parameters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.contracts.access.owners import EVERYONE, may_take
from sluice.contracts.common.numbers import format_count
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.templates.matching import (
    bind,
    facts_of,
    find_rejection_reason,
    missing_parameters_text,
)
from sluice.contracts.templates.templates import Template

#: Number of templates named in a reason; further ones are only counted.
MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class Match:
    """The template that takes a data set.

    ``tied_templates`` are other templates of the same priority that match as well.
    """

    template: Template
    params: dict[str, Any]
    tied_templates: tuple[Template, ...] = ()


@dataclass(frozen=True, slots=True)
class NoMatch:
    """No template takes the data set; ``reason`` says why."""

    reason: str


def decide(dataset: Dataset, templates: Iterable[Template]) -> Match | NoMatch:
    """Return which template takes the data set, and with which parameters.

    Of the latest versions that match, the template of highest priority takes it; of several, the
    first by name. Templates of groups that do not see the data set are ignored.
    """
    latest_templates = [
        template
        for template in select_latest(templates)
        if may_take(template.group, dataset.group, dataset.shared_with)
    ]
    facts = facts_of(dataset)
    rejection_reasons = {
        template.name: find_rejection_reason(dataset, template.plan, template=template.name)
        for template in latest_templates
    }
    fitting = [
        template for template in latest_templates if rejection_reasons[template.name] is None
    ]
    if not fitting:
        visible_templates = [
            each for each in latest_templates if each.group in {EVERYONE, dataset.group}
        ]
        reasons_by_name = [
            (each.name, rejection_reasons[each.name] or "") for each in visible_templates
        ]
        return NoMatch(
            _explain_no_match(
                reasons_by_name, other_count=len(latest_templates) - len(visible_templates)
            )
        )
    template, *others = sorted(
        fitting, key=lambda candidate: (-candidate.plan.priority, candidate.name)
    )
    params, missing = bind(template.plan, facts)
    if missing:
        return NoMatch(f"{_template_label(template, dataset)} {missing_parameters_text(missing)}")
    if broken := unmet(template.plan, DatasetFacts.of(dataset), params):
        return NoMatch(f"{_template_label(template, dataset)} matches, but {requires_text(broken)}")
    return Match(
        template,
        params,
        tuple(other for other in others if other.plan.priority == template.plan.priority),
    )


def _template_label(template: Template, dataset: Dataset) -> str:
    """Return how a reason names the template; readers may not know templates of other groups."""
    own = template.group in {EVERYONE, dataset.group}
    return f"template {template.name}" if own else "a template of another group"


def select_latest(templates: Iterable[Template]) -> list[Template]:
    """Return the latest version of each template, by name."""
    latest_templates: dict[str, Template] = {}
    for template in templates:
        if (
            template.name not in latest_templates
            or template.version > latest_templates[template.name].version
        ):
            latest_templates[template.name] = template
    return sorted(latest_templates.values(), key=lambda template: template.name)


def _explain_no_match(rejection_reasons: Sequence[tuple[str, str]], *, other_count: int) -> str:
    """Return the reason; ``other_count`` counts templates that the reader may not know."""
    if not rejection_reasons and not other_count:
        return "there is no template for data sets"
    listed_reasons = "; ".join(f"{name} {reason}" for name, reason in rejection_reasons[:MAX_NAMED])
    more = max(0, len(rejection_reasons) - MAX_NAMED) + other_count
    if not listed_reasons:
        return (
            f"no template matches: {format_count(more, 'template')} of other groups were considered"
        )
    remainder = f"; and {more} more" if more else ""
    return f"no template matches: {listed_reasons}{remainder}"
