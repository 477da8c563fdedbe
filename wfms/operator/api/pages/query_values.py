"""Reads what the address of a page asks for: filters, an order, a number."""

from enum import StrEnum
from typing import TypeVar

from flask import request

from wfms.operator.domain.errors import AddressRefused

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def query_choice(kind: type[ChoiceT], key: str = "state") -> ChoiceT | None:
    """The one that ``?state=`` (or another ``key``) names; None where nothing is named. Raises
    ``AddressRefused``."""
    named = request.args.get(key, "")
    if not named:
        return None
    try:
        return kind(named)
    except ValueError:
        raise AddressRefused(key, named, "one of " + ", ".join(kind)) from None


def query_number(key: str) -> int | None:
    """None where nothing is named. Raises ``AddressRefused``."""
    named = request.args.get(key, "")
    if not named:
        return None
    try:
        return int(named)
    except ValueError:
        raise AddressRefused(key, named, "a number") from None
