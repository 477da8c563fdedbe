"""Which numbers can be ids of jobs and attempts; others would be errors in the database."""

from collections.abc import Iterable
from typing import TypeVar

from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.pilots.reports import AttemptReport

TokenT = TypeVar("TokenT", bound=JobToken | AttemptReport)

MAX_ID = 2**63 - 1
MAX_ATTEMPT = 2**31 - 1


def filter_valid_tokens(tokens: Iterable[TokenT]) -> list[TokenT]:
    """Return the tokens whose numbers are possible."""
    return [
        token for token in tokens if 0 < token.id <= MAX_ID and 0 < token.attempt <= MAX_ATTEMPT
    ]
