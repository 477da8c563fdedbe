"""Errors of forms."""

from pydantic import ValidationError

from sluice.contracts.problems import Finding, Unprocessable
from sluice.contracts.wording import sentence_of


def wrong_form(error: ValidationError) -> Unprocessable:
    """Return the error for a form that failed validation, with a finding for each field."""
    findings = [
        Finding(message=f"{'.'.join(map(str, wrong['loc']))}: {sentence_of(wrong)}")
        for wrong in error.errors()
    ]
    return Unprocessable("What was sent does not have the right form", findings=findings)
