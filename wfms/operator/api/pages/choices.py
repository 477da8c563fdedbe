"""Filters in the address of a page."""

from enum import StrEnum
from typing import TypeVar

from flask import request

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


def chosen(kind: type[ChoiceT], key: str = "state") -> ChoiceT | None:
    """The one that ``?state=`` (or another ``key``) names; None where it names none of them."""
    try:
        return kind(request.args.get(key, ""))
    except ValueError:
        return None
