"""CWL processes loaded from their documents."""

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from cwltool.context import LoadingContext
from cwltool.errors import WorkflowException
from cwltool.load_tool import load_tool
from cwltool.process import get_schema
from cwltool.update import INTERNAL_VERSION, ORIGINAL_CWLVERSION
from schema_salad.exceptions import ValidationException
from schema_salad.fetcher import DefaultFetcher
from schema_salad.sourceline import cmap

from pilot.runner.cwl.command_tool import make_process
from pilot.runner.cwl.cwltool_messages import clean_message
from pilot.runner.cwl.plain_bindings import copy_bindings_plainly
from pilot.runner.cwl.process_files import write_process
from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import silence_tracebacks
from sluice.contracts.common.states import ErrorClass
from sluice.tools.cwltool_types import use_newest_types

#: Errors of cwltool for a tool or a job order that it cannot process.
CWL_ERRORS = (WorkflowException, ValidationException)


def create_loading_context() -> LoadingContext:
    """Return a context that fetches nothing from the network and looks up no schema."""
    return LoadingContext(
        {
            "construct_tool_object": make_process,
            "fetcher_constructor": lambda cache, _session: DefaultFetcher(cache, None),
            "disable_js_validation": True,
            "relax_path_checks": True,
            "skip_schemas": True,
        }
    )


def load_document(document: Mapping[str, Any], folder: str, *, subject: str) -> Any:
    """Load a process as a person wrote it.

    ``folder`` is for a file that cwltool reads. ``subject`` names the process in a message.

    Raises:
        AttemptError: The document is not valid.
    """
    path = f"{folder}/{os.getpid()}.cwl"
    paths = write_process(document, path)
    try:
        return load_tool(f"file://{path}", create_loading_context())
    except CWL_ERRORS as error:
        raise AttemptError(
            ErrorClass.TOOL_FAILED, f"{subject} cannot be used: {clean_message(error)}"
        ) from error
    finally:
        for file in paths:
            os.unlink(file)


def load_again(document: Mapping[str, Any], version: str) -> Any:
    """Load a process that cwltool has already loaded and written elsewhere.

    Nothing is resolved or updated again. ``version`` is the CWL version that it was written in.

    Raises:
        AttemptError: The document is not valid.
    """
    context = create_loading_context()
    context.avsc_names = get_schema(version)[1]
    context.metadata = {"cwlVersion": INTERNAL_VERSION, ORIGINAL_CWLVERSION: version}
    try:
        return make_process(cmap(dict(document)), context)
    except CWL_ERRORS as error:
        raise AttemptError(
            ErrorClass.TOOL_FAILED, f"the process cannot be used: {clean_message(error)}"
        ) from error


def warm_up(folder: str) -> None:
    """Configure cwltool and load an empty tool.

    All schemas are therefore read before the first fork.
    """
    logging.getLogger("cwltool").setLevel(logging.ERROR)
    silence_tracebacks()
    use_newest_types()
    copy_bindings_plainly()
    path = f"{folder}/warm-up.cwl"
    document = {
        "cwlVersion": "v1.2",
        "class": "CommandLineTool",
        "baseCommand": "true",
        "inputs": {},
        "outputs": {},
    }
    with open(path, "w") as file:
        json.dump(document, file)
    load_tool(f"file://{path}", create_loading_context())
    os.unlink(path)
