"""The comparison of the plans of two template versions, in words."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, Literal, TypeVar

from sluice.contracts.data.append_only import Trigger
from sluice.contracts.data.asset_refs import AssetRef
from sluice.contracts.data.retention import deletion_text
from sluice.contracts.templates.chain_requirements import required
from sluice.contracts.templates.conditions import Condition
from sluice.contracts.templates.matching import condition_text, describe_trigger
from sluice.contracts.templates.plan import Parameter, Plan, PlanOutput, PlanStep
from sluice.contracts.templates.templates import Change, PlanChange
from wfms.operator.templates.domain.parameters import type_name

#: Characters that are shown of a value.
_MAX_VALUE_LENGTH = 80
#: Characters before the first difference, if the beginning of a value is left out.
_LEAD_LENGTH = 20
#: Fields that concern the whole plan.
_PLAN_FIELDS = ("doc", "cwl_version", "data_input", "data_entries", "priority")

#: Floats from this value on are written with an exponent.
_ALL_DIGITS = 1e15

PlanPart = Literal["template", "match", "parameter", "secret", "step", "output"]
PartT = TypeVar("PartT")
#: Values that are compared as a whole: texts, or values by name.
Facts = list[str] | dict[str, Any]


def compare_plans(before: Plan | None, after: Plan) -> list[PlanChange]:
    """Return the changes; without an old plan, everything is added."""
    old = before or _without_parts(after)
    return [
        *_compare_fields(old, after),
        *_compare_deletion(before, after),
        *_compare_parts(
            "match", old.match, after.match, lambda condition: [condition_text(condition)]
        ),
        *_compare_parts(
            "match",
            _trigger_by_name(old),
            _trigger_by_name(after),
            lambda trigger: [describe_trigger(trigger)],
        ),
        *_compare_parts(
            "template",
            _list_required(old),
            _list_required(after),
            lambda condition: [condition_text(condition)],
        ),
        *_compare_parts(
            "parameter", _list_parameters(old), _list_parameters(after), _parameter_facts
        ),
        *_compare_parts("secret", old.secrets, after.secrets, lambda ref: [str(ref)]),
        *_compare_parts(
            "step",
            _by_name(old.steps),
            _by_name(after.steps),
            _step_facts,
            describe=lambda step: [step.mode.value],
        ),
        *_compare_parts("output", _by_name(old.outputs), _by_name(after.outputs), _output_facts),
    ]


def _without_parts(after: Plan) -> Plan:
    """Return the plan without its parts, as the old plan of a new name."""
    return after.model_copy(
        update={
            "match": {},
            "trigger": None,
            "parameters": {},
            "bind": {},
            "secrets": {},
            "require": None,
            "steps": [],
            "outputs": [],
        }
    )


def _trigger_by_name(plan: Plan) -> dict[str, Trigger]:
    """Return the trigger, if there is one."""
    return {} if plan.trigger is None else {"runs": plan.trigger}


def _compare_fields(before: Plan, after: Plan) -> Iterator[PlanChange]:
    old, new = (
        _flatten(plan.model_dump(mode="json", include=set(_PLAN_FIELDS)))
        for plan in (before, after)
    )
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            detail = _describe_difference(old.get(name), new.get(name))
            yield PlanChange(part="template", name=name, change=Change.CHANGED, details=[detail])


def _compare_deletion(before: Plan | None, after: Plan) -> Iterator[PlanChange]:
    """Yield what a new template deletes, or the change of the retention."""
    if before is None or before.retention != after.retention:
        change = Change.ADDED if before is None else Change.CHANGED
        details = [deletion_text(after.retention)]
        yield PlanChange(part="template", name="retention", change=change, details=details)


def _compare_parts(
    part: PlanPart,
    before: Mapping[str, PartT],
    after: Mapping[str, PartT],
    facts: Callable[[PartT], Facts],
    *,
    describe: Callable[[PartT], list[str]] | None = None,
) -> Iterator[PlanChange]:
    """Yield the changes of one kind of part: old parts in their order, then new ones.

    Args:
        part: The kind of part.
        before: The old parts by name.
        after: The new parts by name.
        facts: Returns what is compared.
        describe: Returns what is said of an added or removed part; by default its facts.
    """
    for name in [*before, *(name for name in after if name not in before)]:
        if name in before and name in after:
            if details := _list_differences(facts(before[name]), facts(after[name])):
                yield PlanChange(part=part, name=name, change=Change.CHANGED, details=details)
            continue
        change, subject = (
            (Change.REMOVED, before[name]) if name in before else (Change.ADDED, after[name])
        )
        yield PlanChange(
            part=part,
            name=name,
            change=change,
            details=describe(subject) if describe else _list_facts(facts(subject)),
        )


def _list_facts(facts: Facts) -> list[str]:
    return (
        facts
        if isinstance(facts, list)
        else [f"{name} {_cut(_format_value(value))}" for name, value in facts.items()]
    )


def _list_differences(before: Facts, after: Facts) -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        return [
            f"{name}: {_describe_difference(before.get(name), after.get(name))}"
            for name in names
            if before.get(name) != after.get(name)
        ]
    return [] if before == after else [f"{', '.join(before)} → {', '.join(after)}"]


def _describe_difference(before: object, after: object) -> str:
    """Return two different values as text, shortened so that the difference is visible."""
    old, new = _format_value(before), _format_value(after)
    if old == new:
        old, new = (json.dumps(value, ensure_ascii=False) for value in (before, after))
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = (
        0
        if max(len(old), len(new)) <= _MAX_VALUE_LENGTH or same <= _MAX_VALUE_LENGTH - _LEAD_LENGTH
        else same - _LEAD_LENGTH
    )
    return f"{_cut(old, start)} → {_cut(new, start)}"


def _cut(text: str, start: int = 0) -> str:
    end = start + _MAX_VALUE_LENGTH
    return f"{'… ' if start else ''}{text[start:end]}{' …' if len(text) > end else ''}"


def _list_required(plan: Plan) -> dict[str, Condition]:
    return {f"require {name}": condition for name, condition in required(plan).items()}


def _list_parameters(plan: Plan) -> dict[str, tuple[Parameter, str | AssetRef | None]]:
    """Return the parameters with the metadata key or asset that each is bound to."""
    return {
        name: (parameter, plan.assets.get(name) or plan.bind.get(name))
        for name, parameter in plan.parameters.items()
    }


def _parameter_facts(
    parameter_and_source: tuple[Parameter, str | AssetRef | None],
) -> dict[str, Any]:
    parameter, source = parameter_and_source
    if isinstance(source, AssetRef):
        return {"type": type_name(parameter.type), "files of": str(source)}
    default = (
        "none, it has to be given"
        if parameter.required and parameter.default is None
        else parameter.default
    )
    bound_to = {} if source is None else {"taken from metadata": source}
    return {"type": type_name(parameter.type), "default": default} | bound_to


def _step_facts(step: PlanStep) -> dict[str, Any]:
    facts = _flatten(step.model_dump(mode="json", exclude={"tool", "name", "doc"}))
    return facts | {f"its tool's {name}": value for name, value in _flatten(step.tool).items()}


def _output_facts(output: PlanOutput) -> list[str]:
    collected = "" if output.collect is None else f", collected in {output.collect.name}"
    return [f"{output.step}/{output.port}{'' if output.single else ', a list'}{collected}"]


def _by_name(parts: Iterable[Any]) -> dict[str, Any]:
    return {part.name: part for part in parts}


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Return nested values that are not empty by path (``retry.attempts``); lists stay whole."""
    if isinstance(value, dict):
        return {
            key: leaf
            for name, inner in value.items()
            for key, leaf in _flatten(inner, f"{path}.{name}" if path else name).items()
        }
    return {} if value in (None, [], "") else {path: value}


def _format_value(value: object) -> str:
    """Return a value as text, with sorted keys because PostgreSQL keeps no key order."""
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}" if abs(value) < _ALL_DIGITS else repr(value)
    return (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )
