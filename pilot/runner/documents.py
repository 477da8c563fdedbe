"""CWL processes from their documents, with cwltool as a library."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from cwltool.load_tool import load_tool
from cwltool.process import get_schema
from cwltool.update import INTERNAL_VERSION, ORIGINAL_CWLVERSION
from cwltool.workflow import default_make_tool
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from pilot.runner.failures import AttemptError
from pilot.runner.run_workflow import loading_context
from pilot.runner.tool import CWL_ERRORS, plain
from sluice.contracts.states import ErrorClass


def load_document(document: Mapping[str, Any], folder: str, what: str) -> Any:
    """A process as a person wrote it. ``folder``: for a file that cwltool reads it from. Raises ``AttemptError``."""
    path = f"{folder}/{os.getpid()}.cwl"
    with open(path, "w") as file:
        json.dump(document, file)
    try:
        return load_tool(f"file://{path}", loading_context())
    except CWL_ERRORS as error:
        raise AttemptError(ErrorClass.TOOL_FAILED, f"{what} cannot be used: {plain(error)}") from error
    finally:
        os.unlink(path)


def load_again(
    document: Mapping[str, Any], version: str, requirements: Sequence[Mapping[str, Any]], hints: Sequence[Mapping[str, Any]]
) -> Any:
    """A process that cwltool has loaded before, elsewhere, and written out: nothing is resolved or updated again.

    ``version``: the CWL version it was written in. ``requirements``, ``hints``: those it inherits. Raises ``AttemptError``.
    """
    context = loading_context()
    context.avsc_names = get_schema(version)[1]
    context.metadata = {"cwlVersion": INTERNAL_VERSION, ORIGINAL_CWLVERSION: version}
    context.requirements, context.hints = _commented(list(requirements)), _commented(list(hints))
    try:
        return default_make_tool(_commented(dict(document)), context)
    except CWL_ERRORS as error:
        raise AttemptError(ErrorClass.TOOL_FAILED, f"the process cannot be used: {plain(error)}") from error


def _commented(value: Any) -> Any:
    """As ruamel.yaml gives it, which cwltool expects."""
    if isinstance(value, dict):
        return CommentedMap({key: _commented(one) for key, one in value.items()})
    return CommentedSeq([_commented(one) for one in value]) if isinstance(value, list) else value
