"""Filters in the address of a page."""

from enum import StrEnum
from typing import TypeVar

from flask import request

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def chosen(kind: type[ChoiceT]) -> ChoiceT | None:
    """The state that ``?state=`` names; None where it names none of them."""
    try:
        return kind(request.args.get("state", ""))
    except ValueError:
        return None
