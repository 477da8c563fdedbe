"""What ``sluice:match`` and ``sluice:bind`` mean: the intake decides by it, and who uploads or
looks on is told by it."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, assert_never

from sluice.contracts.append_only import Trigger
from sluice.contracts.counts import produced_facts
from sluice.contracts.datasets import Dataset
from sluice.contracts.numbers import counted, in_full
from sluice.contracts.plan import Between, Condition, Equals, Glob, OneOf, Plan
from sluice.visible_text import quoted


def facts_of(dataset: Dataset) -> dict[str, Any]:
    """Return what conditions and bindings may name, by key.

    These are the data set's own name, type, run and period, the conditions of its run
    (``conditions.energy``), what was counted in it (``produced.events``) and its metadata. A key
    of the metadata wins over the others.
    """
    own = {
        "name": called(dataset),
        "type": str(dataset.type),
        "run": dataset.run,
        "period": dataset.period,
    }
    return {
        **{key: value for key, value in own.items() if value is not None},
        **{f"conditions.{key}": value for key, value in dataset.conditions.items()},
        **produced_facts(dataset.meta),
        **dataset.meta,
    }


def called(dataset: Dataset) -> str:
    """Of one that grows, and of its slices, what chains call it; else its name."""
    return dataset.standing or (dataset.name if dataset.slice is None else dataset.slice.name)


def objection_to(dataset: Dataset, plan: Plan, *, template: str) -> str | None:
    """As ``objection``, of a data set that has closed: a slice is the one template's that it was
    cut for, and such a template takes nothing but slices."""
    if dataset.slice is not None and dataset.slice.reader != template:
        return f"is not the template {dataset.slice.reader}, for which it was cut"
    if dataset.slice is None and plan.due is not None:
        what = "takes what is new in standing data sets" if plan.match else "takes no data set"
        return f"{what}, and runs {due_text(plan.due)}"
    return objection(plan, facts_of(dataset))


def due_text(due: Trigger) -> str:
    """``when 1000 files are new, or 24 hours have gone``, ``at 0 3 * * * (Europe/Warsaw)``."""
    every = due.every
    if every is None:
        return f"at {due.schedule} ({due.zone})"
    parts = []
    if every.files is not None:
        parts.append(f"{counted(every.files, 'file')} {'is' if every.files == 1 else 'are'} new")
    if every.hours is not None:
        hours = in_full(every.hours)
        parts.append(f"{hours} {'hour has' if hours == '1' else 'hours have'} gone")
    return f"when {', or '.join(parts)}{', and all of it' if every.all else ''}"


def objection(plan: Plan, facts: Mapping[str, Any]) -> str | None:
    """Why the plan does not take a data set with these facts; None when it does."""
    if not plan.match:
        return "has no sluice:match, so it runs on request only"
    for key, condition in plan.match.items():
        if broken := difference(condition, facts, key):
            return f"wants {broken}"
    return None


def difference(
    condition: Condition, facts: Mapping[str, Any], key: str, *, called: str = ""
) -> str:
    """``run from 3 to 9, which is 2``; empty where the condition holds. ``called``: what to call
    ``key``."""
    if holds(condition, facts.get(key)):
        return ""
    return f"{called or key} {wanted(condition)}, which is {_found(condition, facts.get(key), key)}"


def _found(condition: Condition, value: Any, key: str) -> str:
    """A number where a text is wanted looks like the text; how it was written (``2.10``) is lost,
    so it is not taken for one."""
    if value is None:
        return "missing"
    if isinstance(value, bool) or not isinstance(value, int | float) or not _wants_text(condition):
        return quoted(value)
    text = json.dumps(str(value))
    return (
        f"the number {quoted(value)} and no text (in quotes it is one: {text} in JSON,"
        f" '{key}={text}' on the command line)"
    )


def _wants_text(condition: Condition) -> bool:
    match condition:
        case Glob():
            return True
        case Equals():
            return isinstance(condition.value, str)
        case OneOf():
            return any(isinstance(value, str) for value in condition.values)
        case Between():
            return False
    assert_never(condition)


def missing_parameters_text(missing: Mapping[str, str]) -> str:
    """Parameters that find no value, in words; ``missing`` as of ``bind``."""
    listed = ", ".join(f"{name} (from metadata {quoted(key)})" for name, key in missing.items())
    given = " ".join(f"--param {name}=…" for name in missing)
    return (
        f"matches, but the data set has no value for its parameters {listed}; by hand they are"
        f" given so: sluice chain start DATASET TEMPLATE {given}"
    )


def holds(condition: Condition, value: Any) -> bool:
    """``value`` None: the metadata has no such key."""
    match condition:
        case Equals():
            return _same(value, condition.value)
        case OneOf():
            return any(_same(value, allowed) for allowed in condition.values)
        case Between():
            if isinstance(value, bool) or not isinstance(value, int | float):
                return False
            low = condition.minimum is None or value >= condition.minimum
            return low and (condition.maximum is None or value <= condition.maximum)
        case Glob():
            return isinstance(value, str) and fnmatchcase(value, condition.pattern)
    assert_never(condition)


def bind(plan: Plan, facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Parameters bound to metadata, and those that need a value and find none (name → key).
    Defaults are left to the chain service."""
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


def _same(value: Any, wanted: Any) -> bool:
    """Equal, and not because True is 1 in Python."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def wanted(condition: Condition) -> str:
    """``= 'raw'``, ``from 3 to 9``."""
    match condition:
        case Equals():
            return f"= {quoted(condition.value)}"
        case OneOf():
            return f"in {quoted(condition.values)}"
        case Between():
            low = "-∞" if condition.minimum is None else in_full(condition.minimum)
            high = "∞" if condition.maximum is None else in_full(condition.maximum)
            return f"from {low} to {high}"
        case Glob():
            return f"like {quoted(condition.pattern)}"
    assert_never(condition)


def condition_text(condition: Condition) -> str:
    """``is raw``, ``one of 1, 2``, ``from 3 to 9``, ``like run-*``."""
    match condition:
        case Equals(value=value):
            return "is absent" if value is None else f"is {_value(value)}"
        case OneOf(values=values):
            return "is one of " + ", ".join(_value(value) for value in values)
        case Between(minimum=low, maximum=high):
            return _range(low, high)
        case Glob(pattern=pattern):
            return f"is like {pattern}"
        case _:
            assert_never(condition)


def _range(low: float | None, high: float | None) -> str:
    if low is None:
        return "is any number" if high is None else f"is at most {in_full(high)}"
    return (
        f"is at least {in_full(low)}"
        if high is None
        else f"is from {in_full(low)} to {in_full(high)}"
    )


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
