"""Tools of which checkpoints are kept (``sluice:checkpoint``), of steps or of themselves."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from schema_salad.exceptions import ValidationException

from sluice.contracts.checkpoints import EXAMPLE, Checkpoint
from sluice.contracts.wording import sentence_of
from sluice.cwl_runner.template import InvocationNeeds

#: As a loaded document has the field, and its inner keys where they were written with the prefix.
_NAMESPACE = "urn:sluice:cwl:"
_FIELD = f"{_NAMESPACE}checkpoint"


def checkpoint_of(written: Mapping[str, Any], owner: str) -> Checkpoint | None:
    """What a step or a tool says. Raises ``ValidationException``."""
    value = written.get(_FIELD)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ValidationException(f"{owner}: 'sluice:checkpoint' is a mapping; {EXAMPLE}")
    given = {str(key).removeprefix(_NAMESPACE): inner for key, inner in value.items()}
    try:
        return Checkpoint.model_validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValidationException(
            f"{owner}: 'sluice:checkpoint' {where}: {sentence_of(first)}"
        ) from error


def keeping(checkpoint: Checkpoint | None, needs: InvocationNeeds) -> InvocationNeeds:
    return needs if checkpoint is None else replace(needs, checkpoint=checkpoint.model_dump_json())
