"""The templates that would take an unmatched data set."""

from sluice.contracts.chains.intake import Unmatched


def list_takers(unmatched: Unmatched) -> list[str]:
    """Return the templates that would take the data set now; the first one would get it."""
    return [judged.template for judged in unmatched.rejection_reasons or [] if not judged.reason]
