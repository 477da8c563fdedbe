"""What a tool says that it spent of the quotas that its job reserved (``sluice:resources``)."""

from pydantic import TypeAdapter, ValidationError

from sluice.contracts.resources import SpentAmounts
from sluice.contracts.wording import sentence_of

#: Name of the file that a tool writes into its output folder: ``{"places": 11}``.
SPENT_FILE = "sluice.spent.json"
#: Bytes of such a file that are read.
MOST_SPENT_FILE = 1 << 16

_spent: TypeAdapter[dict[str, float]] = TypeAdapter(SpentAmounts)


class WrongSpent(ValueError):
    """The file says something else; its text says what is wrong."""


def spent_in(text: bytes) -> dict[str, float]:
    """Return the amounts that a tool's file names.

    Raises:
        WrongSpent: The text is no JSON object of names and amounts.
    """
    if len(text) > MOST_SPENT_FILE:
        raise WrongSpent(f"{SPENT_FILE} is larger than {MOST_SPENT_FILE} bytes")
    try:
        return _spent.validate_json(text)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = "".join(f" {part}" for part in wrong["loc"][:1])
        raise WrongSpent(f"{SPENT_FILE}{where}: {sentence_of(wrong)}") from error
