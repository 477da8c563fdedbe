"""Decides which template takes a data set, and with which parameters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.contracts.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.datasets import Dataset
from sluice.contracts.matching import bind, facts_of, missing_parameters_text, objection_to
from sluice.contracts.numbers import counted
from sluice.contracts.owners import EVERYONE, may_take
from sluice.contracts.templates import Template

#: Templates named in a reason; the rest is counted.
NAMED = 10


@dataclass(frozen=True, slots=True)
class Matched:
    """``rivals``: other templates of the same priority that match as well."""

    template: Template
    params: dict[str, Any]
    rivals: tuple[Template, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMatched:
    reason: str


def decide(dataset: Dataset, templates: Iterable[Template]) -> Matched | NotMatched:
    """Of the latest versions that match, the one of highest priority takes the data set; of
    several, the first by name. Those of groups that do not see the data set are none of its
    business."""
    latest = [
        template
        for template in latest_of(templates)
        if may_take(template.group, dataset.group, dataset.shared_with)
    ]
    facts = facts_of(dataset)
    objections = {
        template.name: objection_to(dataset, template.plan, template=template.name)
        for template in latest
    }
    fitting = [template for template in latest if objections[template.name] is None]
    if not fitting:
        told = [each for each in latest if each.group in {EVERYONE, dataset.group}]
        named = [(each.name, objections[each.name] or "") for each in told]
        return NotMatched(_nothing_fits(named, others=len(latest) - len(told)))
    template, *others = sorted(
        fitting, key=lambda candidate: (-candidate.plan.priority, candidate.name)
    )
    params, missing = bind(template.plan, facts)
    if missing:
        return NotMatched(f"{_named(template, dataset)} {missing_parameters_text(missing)}")
    if broken := unmet(template.plan, DatasetFacts.of(dataset), params):
        return NotMatched(f"{_named(template, dataset)} matches, but {requires_text(broken)}")
    return Matched(
        template,
        params,
        tuple(rival for rival in others if rival.plan.priority == template.plan.priority),
    )


def _named(template: Template, dataset: Dataset) -> str:
    """As the data set's group may know it, which sees the reason."""
    own = template.group in {EVERYONE, dataset.group}
    return f"template {template.name}" if own else "a template of another group"


def latest_of(templates: Iterable[Template]) -> list[Template]:
    """The latest version of each, by name."""
    latest: dict[str, Template] = {}
    for template in templates:
        if template.name not in latest or template.version > latest[template.name].version:
            latest[template.name] = template
    return sorted(latest.values(), key=lambda template: template.name)


def _nothing_fits(objections: Sequence[tuple[str, str]], *, others: int) -> str:
    """``others``: templates that are not named to whom the data set is shown."""
    if not objections and not others:
        return "there is no template that data sets may go through"
    named = "; ".join(f"{name} {why}" for name, why in objections[:NAMED])
    more = max(0, len(objections) - NAMED) + others
    if not named:
        return f"no template matches: {counted(more, 'template')} of other groups were looked at"
    remainder = f"; and {more} more" if more else ""
    return f"no template matches: {named}{remainder}"
