"""What is wrong with the fields of a form, in words."""

from pydantic import ValidationError

from sluice.contracts.problems import Finding, Unprocessable
from sluice.contracts.wording import sentence_of


def wrong_form(error: ValidationError) -> Unprocessable:
    findings = [
        Finding(message=f"{'.'.join(map(str, wrong['loc']))}: {sentence_of(wrong)}")
        for wrong in error.errors()
    ]
    return Unprocessable("What was sent does not have the right form", findings=findings)
