"""Checkpoints that steps or tools ask for (``sluice:checkpoint``)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from schema_salad.exceptions import ValidationException

from sluice.contracts.common.wording import sentence_of
from sluice.contracts.jobs.checkpoints import EXAMPLE, Checkpoint
from sluice.cwl_runner.template import InvocationNeeds

#: The namespace of the field in loaded documents, and of inner keys that have the prefix.
_NAMESPACE = "urn:sluice:cwl:"
_FIELD = f"{_NAMESPACE}checkpoint"


def checkpoint_of(written: Mapping[str, Any], owner: str) -> Checkpoint | None:
    """Return the checkpoint that a step or tool asks for, or None.

    Args:
        written: The loaded step or tool.
        owner: Its name in messages.

    Raises:
        ValidationException: The field is invalid.
    """
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
    """Return ``needs`` with the checkpoint, if there is one."""
    return needs if checkpoint is None else replace(needs, checkpoint=checkpoint.model_dump_json())
