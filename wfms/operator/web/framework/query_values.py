"""Reading of query parameters of pages: filters, orders and numbers."""

from enum import StrEnum
from typing import TypeVar

from flask import request

from wfms.operator.errors import InvalidQueryParameter

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def query_choice(kind: type[ChoiceT], key: str = "state") -> ChoiceT | None:
    """Return the choice in ``?state=`` (or another ``key``), or None if there is none.

    Raises:
        InvalidQueryParameter: The value is no choice of this kind.
    """
    value = request.args.get(key, "")
    if not value:
        return None
    try:
        return kind(value)
    except ValueError:
        raise InvalidQueryParameter(key, value, "one of " + ", ".join(kind)) from None


def query_number(key: str) -> int | None:
    """Return the number in a query parameter, or None if there is none.

    Raises:
        InvalidQueryParameter: The value is not a number.
    """
    value = request.args.get(key, "")
    if not value:
        return None
    try:
        return int(value)
    except ValueError:
        raise InvalidQueryParameter(key, value, "a number") from None
