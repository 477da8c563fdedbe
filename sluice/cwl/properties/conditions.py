"""Syntax of conditions: on metadata in ``sluice:match``, and on more in ``sluice:require``."""

import math
from typing import Any

from sluice.contracts.templates.conditions import Between, Condition, Equals, Glob, OneOf
from sluice.cwl.reading.nodes import plain_json


class InvalidConditionError(ValueError):
    """A condition is malformed. The message says what a condition is."""


def parse_condition(value: Any) -> Condition:
    """Return the condition that a value of the template stands for.

    Raises:
        InvalidConditionError: The condition is malformed.
    """
    match value:
        case list():
            if value and all(isinstance(item, str | int | float | bool) for item in value):
                return OneOf(values=plain_json(value))
            raise InvalidConditionError(
                "a list names the values that match: texts, numbers or booleans, at least one"
            )
        case {"glob": str() as pattern} if len(value) == 1 and pattern:
            return Glob(pattern=pattern)
        case dict() if value and set(value) <= {"minimum", "maximum"}:
            return _parse_range(value)
        case dict():
            raise InvalidConditionError("a mapping is {minimum, maximum} or {glob}")
    return Equals(value=value)


def parse_amount_condition(value: Any) -> Condition:
    """Return the condition that a value of the template stands for, if numbers can meet it.

    Raises:
        InvalidConditionError: The condition is malformed, or is not about numbers.
    """
    condition = parse_condition(value)
    values: list[Any] = []
    match condition:
        case Between():
            return condition
        case Equals(value=number):
            values = [number]
        case OneOf(values=several):
            values = [*several]
    if values and all(_is_number(number) for number in values):
        return condition
    raise InvalidConditionError("is a number, or {minimum, maximum}")


def _parse_range(limits: dict[str, Any]) -> Between:
    if not all(_is_number(limit) for limit in limits.values()):
        raise InvalidConditionError("minimum and maximum are numbers")
    low, high = limits.get("minimum"), limits.get("maximum")
    if low is not None and high is not None and low > high:
        raise InvalidConditionError(f"no number is at least {low} and at most {high}")
    return Between(minimum=low, maximum=high)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
