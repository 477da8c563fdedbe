"""Evaluation of ``sluice:match`` and ``sluice:bind``.

The intake decides by these rules. People see the result when they upload data or look at it.
"""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, assert_never

from sluice.contracts.common.numbers import format_count, in_full
from sluice.contracts.data.append_only import Trigger
from sluice.contracts.data.counts import produced_facts
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.conditions import Between, Condition, Equals, Glob, OneOf
from sluice.contracts.templates.plan import Plan
from sluice.text.visible_text import quoted


def facts_of(dataset: Dataset) -> dict[str, Any]:
    """Return what conditions and bindings can refer to, by key.

    These are the data set's own name, type, run and period, the conditions of its run
    (``conditions.energy``), its counts (``produced.events``) and its metadata. A metadata key
    replaces another key of the same name.
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
    """Return the name of a data set for conditions.

    For an append-only data set and its slices, it is the name in ``sluice:collect``.
    """
    return dataset.append_only or (dataset.name if dataset.slice is None else dataset.slice.name)


def find_rejection_reason(dataset: Dataset, plan: Plan, *, template: str) -> str | None:
    """Return why the plan does not take a closed data set, or None if it does.

    Only the template for which a slice was cut takes it. A template with a trigger takes slices
    only.
    """
    if dataset.slice is not None and dataset.slice.reader != template:
        return f"is not the template {dataset.slice.reader}, for which the slice was cut"
    if dataset.slice is None and plan.trigger is not None:
        what = "takes new files of append-only data sets" if plan.match else "takes no data set"
        return f"{what}, and runs {describe_trigger(plan.trigger)}"
    return find_unmet_condition(plan, facts_of(dataset))


def describe_trigger(trigger: Trigger) -> str:
    """Return when a trigger starts a chain, in words.

    Examples are ``when 1000 files are new, or 24 hours have gone`` and
    ``at 0 3 * * * (Europe/Warsaw)``.
    """
    every = trigger.every
    if every is None:
        return f"at {trigger.schedule} ({trigger.zone})"
    parts = []
    if every.files is not None:
        parts.append(
            f"{format_count(every.files, 'file')} {'is' if every.files == 1 else 'are'} new"
        )
    if every.hours is not None:
        hours = in_full(every.hours)
        parts.append(f"{hours} {'hour has' if hours == '1' else 'hours have'} gone")
    return f"when {', or '.join(parts)}{', and all of it' if every.all else ''}"


def find_unmet_condition(plan: Plan, facts: Mapping[str, Any]) -> str | None:
    """Return why the plan does not take a data set with these facts, or None if it does."""
    if not plan.match:
        return "has no sluice:match, so it runs on request only"
    for key, condition in plan.match.items():
        if broken := difference(condition, facts, key):
            return f"wants {broken}"
    return None


def difference(
    condition: Condition, facts: Mapping[str, Any], key: str, *, field_name: str = ""
) -> str:
    """Return why a condition does not hold, or an empty string if it holds.

    An example is ``run from 3 to 9, which is 2``. ``field_name`` replaces ``key`` in the text.
    """
    if holds(condition, facts.get(key)):
        return ""
    fact = _describe_fact(condition, facts.get(key), key)
    return f"{field_name or key} {describe_condition(condition)}, which is {fact}"


def _describe_fact(condition: Condition, value: Any, key: str) -> str:
    """Return the value of a key as messages show it.

    A number can look like the text that is required. It is not converted, because its spelling
    (``2.10``) is lost. So the message says how to write a text.
    """
    if value is None:
        return "missing"
    if isinstance(value, bool) or not isinstance(value, int | float) or not _wants_text(condition):
        return quoted(value)
    text = json.dumps(str(value))
    return (
        f"the number {quoted(value)}, not a text (quote it to make it a text: {text} in JSON,"
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
    """Return a sentence that names the parameters without a value.

    ``missing`` is the second result of ``bind``.
    """
    listed = ", ".join(f"{name} (from metadata {quoted(key)})" for name, key in missing.items())
    options = " ".join(f"--param {name}=…" for name in missing)
    return (
        f"matches, but the data set has no value for its parameters {listed}; to give them: sluice"
        f" chain start DATASET TEMPLATE {options}"
    )


def holds(condition: Condition, value: Any) -> bool:
    """Return whether a value fulfils a condition. The value of a missing key is None."""
    match condition:
        case Equals():
            return _equals(value, condition.value)
        case OneOf():
            return any(_equals(value, allowed) for allowed in condition.values)
        case Between():
            if isinstance(value, bool) or not isinstance(value, int | float):
                return False
            low = condition.minimum is None or value >= condition.minimum
            return low and (condition.maximum is None or value <= condition.maximum)
        case Glob():
            return isinstance(value, str) and fnmatchcase(value, condition.pattern)
    assert_never(condition)


def bind(plan: Plan, facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of parameters bound to metadata, and required parameters without a value.

    The second result maps such a parameter to its metadata key. The chain service adds defaults.
    """
    values = {name: facts[key] for name, key in plan.bind.items() if facts.get(key) is not None}
    missing = {
        name: key
        for name, key in plan.bind.items()
        if name not in values
        and name in plan.parameters
        and plan.parameters[name].required
        and plan.parameters[name].default is None
    }
    return values, missing


def _equals(value: Any, expected_value: Any) -> bool:
    """Return whether two values are equal, and both or neither are Boolean (True is not 1)."""
    return isinstance(value, bool) == isinstance(expected_value, bool) and value == expected_value


def describe_condition(condition: Condition) -> str:
    """Return a condition for error messages, such as ``= 'raw'`` or ``from 3 to 9``."""
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
    """Return a condition as a phrase, such as ``is raw``, ``is from 3 to 9``."""
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
