"""Checkpoints that steps or tools ask for (``sluice:checkpoint``)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from schema_salad.exceptions import ValidationException

from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.jobs.checkpoints import EXAMPLE, Checkpoint
from sluice.cwl_runner.template import InvocationNeeds

#: The namespace of the field in loaded documents, and of inner keys that have the prefix.
_NAMESPACE = "urn:sluice:cwl:"
_FIELD = f"{_NAMESPACE}checkpoint"


def read_checkpoint(node: Mapping[str, Any], owner: str) -> Checkpoint | None:
    """Return the checkpoint that a step or tool asks for, or None.

    Args:
        node: The loaded step or tool.
        owner: The name of the step or tool in messages.

    Raises:
        ValidationException: The field is invalid.
    """
    value = node.get(_FIELD)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ValidationException(f"{owner}: 'sluice:checkpoint' is a mapping; {EXAMPLE}")
    fields = {str(key).removeprefix(_NAMESPACE): inner for key, inner in value.items()}
    try:
        return Checkpoint.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        field_path = ".".join(map(str, problem["loc"]))
        raise ValidationException(
            f"{owner}: 'sluice:checkpoint' {field_path}: {validation_sentence(problem)}"
        ) from error


def add_checkpoint(checkpoint: Checkpoint | None, needs: InvocationNeeds) -> InvocationNeeds:
    """Return ``needs`` with the checkpoint, if there is one."""
    return needs if checkpoint is None else replace(needs, checkpoint=checkpoint.model_dump_json())
