"""Errors of forms."""

from pydantic import ValidationError

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.common.wording import validation_sentence
from sluice.text.visible_text import quoted


def to_form_error(error: ValidationError) -> Unprocessable:
    """Return the error for a form that failed validation, with a finding for each field."""
    findings = [
        Finding(message=f"{'.'.join(map(str, detail['loc']))}: {validation_sentence(detail)}")
        for detail in error.errors()
    ]
    return Unprocessable("The form has invalid fields", findings=findings)


def parse_role(name: str) -> Role:
    """Return the role of this name.

    Raises:
        Unprocessable: There is no such role.
    """
    if name not in set(Role):
        raise Unprocessable(f"{quoted(name)} is not a role: choose one of {', '.join(Role)}")
    return Role(name)
