"""Which template takes a data set, and with which parameters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, assert_never

from sluice.contracts.datasets import Dataset
from sluice.contracts.plan import Between, Condition, Equals, Glob, OneOf, Plan
from sluice.contracts.templates import Template

#: Templates named in a reason; the rest is counted.
NAMED = 10


@dataclass(frozen=True, slots=True)
class Matched:
    template: Template
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotMatched:
    reason: str


def decide(dataset: Dataset, templates: Iterable[Template]) -> Matched | NotMatched:
    """Of the latest versions that match, the one of highest priority takes the data set; of several, the first by name."""
    latest = _latest(templates)
    facts = facts_of(dataset)
    objections = {template.name: objection(template.plan, facts) for template in latest}
    fitting = [template for template in latest if objections[template.name] is None]
    if not fitting:
        return NotMatched(_nothing_fits([(name, why or "") for name, why in objections.items()]))
    template = min(fitting, key=lambda one: (-one.plan.priority, one.name))
    params, missing = bind(template.plan, facts)
    if missing:
        listed = ", ".join(f"{name} (from metadata {key!r})" for name, key in missing.items())
        return NotMatched(f"template {template.name} matches, but the data set has no value for its parameters {listed}")
    return Matched(template, params)


def facts_of(dataset: Dataset) -> dict[str, Any]:
    """What conditions and bindings may name: the metadata, and under it the data set's own name, type, run and period."""
    own = {"name": dataset.name, "type": str(dataset.type), "run": dataset.run, "period": dataset.period}
    return {**{key: value for key, value in own.items() if value is not None}, **dataset.meta}


def objection(plan: Plan, facts: Mapping[str, Any]) -> str | None:
    """Why the plan does not take a data set with these facts; None when it does."""
    if not plan.match:
        return "has no sluice:match, so it runs on request only"
    for key, condition in plan.match.items():
        if not holds(condition, facts.get(key)):
            found = repr(facts[key]) if key in facts else "missing"
            return f"wants {key} {_wanted(condition)}, which is {found}"
    return None


def holds(condition: Condition, value: Any) -> bool:
    """``value`` None: the metadata has no such key."""
    match condition:
        case Equals():
            return _same(value, condition.value)
        case OneOf():
            return any(_same(value, one) for one in condition.values)
        case Between():
            if isinstance(value, bool) or not isinstance(value, int | float):
                return False
            low = condition.minimum is None or value >= condition.minimum
            return low and (condition.maximum is None or value <= condition.maximum)
        case Glob():
            return isinstance(value, str) and fnmatchcase(value, condition.pattern)
    assert_never(condition)


def bind(plan: Plan, facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Parameters bound to metadata, and those that need a value and find none (name → key). Defaults are left to the chain
    service."""
    bound = {name: facts[key] for name, key in plan.bind.items() if facts.get(key) is not None}
    missing = {
        name: key
        for name, key in plan.bind.items()
        if name not in bound
        and name in plan.parameters
        and plan.parameters[name].required
        and plan.parameters[name].default is None
    }
    return bound, missing


def _latest(templates: Iterable[Template]) -> list[Template]:
    latest: dict[str, Template] = {}
    for template in templates:
        if template.name not in latest or template.version > latest[template.name].version:
            latest[template.name] = template
    return sorted(latest.values(), key=lambda template: template.name)


def _same(value: Any, wanted: Any) -> bool:
    """Equal, and not because True is 1 in Python."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _wanted(condition: Condition) -> str:
    match condition:
        case Equals():
            return f"= {condition.value!r}"
        case OneOf():
            return f"in {condition.values!r}"
        case Between():
            low = "-∞" if condition.minimum is None else f"{condition.minimum:g}"
            high = "∞" if condition.maximum is None else f"{condition.maximum:g}"
            return f"from {low} to {high}"
        case Glob():
            return f"like {condition.pattern!r}"
    assert_never(condition)


def _nothing_fits(objections: Sequence[tuple[str, str]]) -> str:
    if not objections:
        return "there are no templates"
    named = "; ".join(f"{name} {why}" for name, why in objections[:NAMED])
    more = f"; and {len(objections) - NAMED} more" if len(objections) > NAMED else ""
    return f"no template matches: {named}{more}"
