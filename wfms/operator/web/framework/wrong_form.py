"""Errors of forms."""

from pydantic import ValidationError

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.common.wording import sentence_of
from sluice.text.visible_text import quoted


def wrong_form(error: ValidationError) -> Unprocessable:
    """Return the error for a form that failed validation, with a finding for each field."""
    findings = [
        Finding(message=f"{'.'.join(map(str, wrong['loc']))}: {sentence_of(wrong)}")
        for wrong in error.errors()
    ]
    return Unprocessable("What was sent does not have the right form", findings=findings)


def role_called(name: str) -> Role:
    """Return the role of this name.

    Raises:
        Unprocessable: There is no such role.
    """
    if name not in set(Role):
        raise Unprocessable(f"{quoted(name)} is no role: choose one of {', '.join(Role)}")
    return Role(name)
