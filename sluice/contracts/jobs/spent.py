"""The file in which a tool states what it spent of the reserved quotas (``sluice:resources``)."""

from pydantic import TypeAdapter, ValidationError

from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.jobs.resources import SpentAmounts

#: The name of the file, which the tool writes into its output folder: ``{"places": 11}``.
SPENT_FILE = "sluice.spent.json"
#: Most bytes of the file.
MAX_SPENT_FILE = 1 << 16

_spent_adapter: TypeAdapter[dict[str, float]] = TypeAdapter(SpentAmounts)


class InvalidSpentFile(ValueError):
    """The file is not valid; the text of the exception says why."""


def parse_spent(text: bytes) -> dict[str, float]:
    """Return the amounts that a tool's file names.

    Raises:
        InvalidSpentFile: The text is no JSON object of names and amounts.
    """
    if len(text) > MAX_SPENT_FILE:
        raise InvalidSpentFile(f"{SPENT_FILE} is larger than {MAX_SPENT_FILE} bytes")
    try:
        return _spent_adapter.validate_json(text)
    except ValidationError as error:
        fault = error.errors()[0]
        where = "".join(f" {part}" for part in fault["loc"][:1])
        raise InvalidSpentFile(f"{SPENT_FILE}{where}: {validation_sentence(fault)}") from error
