"""Syntax of conditions: on metadata in ``sluice:match``, and on more in ``sluice:require``."""

import math
from typing import Any

from sluice.contracts.templates.plan import Between, Condition, Equals, Glob, OneOf
from sluice.cwl.reading.nodes import plain_json


class WrongConditionError(ValueError):
    """A condition is malformed. The message says what a condition is."""


def condition_of(wanted: Any) -> Condition:
    """Return the condition that is written.

    Raises:
        WrongConditionError: It is malformed.
    """
    match wanted:
        case list():
            if wanted and all(isinstance(item, str | int | float | bool) for item in wanted):
                return OneOf(values=plain_json(wanted))
            raise WrongConditionError(
                "a list names the values that match: texts, numbers or booleans, at least one"
            )
        case {"glob": str() as pattern} if len(wanted) == 1 and pattern:
            return Glob(pattern=pattern)
        case dict() if wanted and set(wanted) <= {"minimum", "maximum"}:
            return _range(wanted)
        case dict():
            raise WrongConditionError("a mapping is {minimum, maximum} or {glob}")
    return Equals(value=wanted)


def amount_of(wanted: Any) -> Condition:
    """Return the condition that is written, which a number must be able to meet.

    Raises:
        WrongConditionError: It is malformed, or is not about numbers.
    """
    condition = condition_of(wanted)
    values: list[Any] = []
    match condition:
        case Between():
            return condition
        case Equals(value=value):
            values = [value]
        case OneOf(values=several):
            values = [*several]
    if values and all(_is_number(value) for value in values):
        return condition
    raise WrongConditionError("is a number, or {minimum, maximum}")


def _range(wanted: dict[str, Any]) -> Between:
    if not all(_is_number(bound) for bound in wanted.values()):
        raise WrongConditionError("minimum and maximum are numbers")
    low, high = wanted.get("minimum"), wanted.get("maximum")
    if low is not None and high is not None and low > high:
        raise WrongConditionError(f"no number is at least {low} and at most {high}")
    return Between(minimum=low, maximum=high)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
