"""The form that sets who sees an object."""

from collections.abc import Sequence

from flask import request
from pydantic import ValidationError

from sluice.contracts.access.owners import EVERYONE, Share
from wfms.operator.web.framework.form_errors import to_form_error


def read_share() -> Share:
    """Read the form.

    Raises:
        Unprocessable: A name is not valid.
    """
    names = request.form.get("shared_with", "").replace(",", " ").split()
    try:
        return Share(shared_with=names, group=request.form.get("group", "").strip() or None)
    except ValidationError as error:
        raise to_form_error(error) from error


def describe_visibility(group: str, shared_with: Sequence[str]) -> str:
    """Return text like ``is seen by the group ocr, and by spd``."""
    if EVERYONE in {group, *shared_with}:
        return "is seen by everyone"
    others = f", and by {', '.join(shared_with)}" if shared_with else ""
    return f"is seen by the group {group}{others}"
