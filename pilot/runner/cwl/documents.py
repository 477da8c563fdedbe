"""CWL processes from their documents, with cwltool as a library."""

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
from pilot.runner.cwl.cwltool_messages import cwltool_message
from pilot.runner.cwl.plain_bindings import copy_bindings_plainly
from pilot.runner.cwl.process_files import write_process
from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import quieten
from sluice.contracts.states import ErrorClass
from sluice.cwltool_types import take_types_from_the_newest

#: What cwltool raises for a tool or a job order that it cannot work with.
CWL_ERRORS = (WorkflowException, ValidationException)


def loading_context() -> LoadingContext:
    """Nothing is fetched from the network, no schema is looked up."""
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
    """A process as a person wrote it. ``folder``: for a file that cwltool reads it from.
    ``subject``: what it is, in a sentence. Raises ``AttemptError``."""
    path = f"{folder}/{os.getpid()}.cwl"
    written = write_process(document, path)
    try:
        return load_tool(f"file://{path}", loading_context())
    except CWL_ERRORS as error:
        raise AttemptError(
            ErrorClass.TOOL_FAILED, f"{subject} cannot be used: {cwltool_message(error)}"
        ) from error
    finally:
        for file in written:
            os.unlink(file)


def load_again(document: Mapping[str, Any], version: str) -> Any:
    """A process that cwltool has loaded before, elsewhere, and written out: nothing is resolved or
    updated again.

    ``version``: the CWL version it was written in. Raises ``AttemptError``.
    """
    context = loading_context()
    context.avsc_names = get_schema(version)[1]
    context.metadata = {"cwlVersion": INTERNAL_VERSION, ORIGINAL_CWLVERSION: version}
    try:
        return make_process(cmap(dict(document)), context)
    except CWL_ERRORS as error:
        raise AttemptError(
            ErrorClass.TOOL_FAILED, f"the process cannot be used: {cwltool_message(error)}"
        ) from error


def warm_up(folder: str) -> None:
    """Loads a tool of nothing, so that all schemas are read before the first fork."""
    logging.getLogger("cwltool").setLevel(logging.ERROR)
    quieten()
    # It tells of every failed expression with a traceback; the job's report has the reason.
    logging.getLogger("cwl_utils").setLevel(logging.CRITICAL)
    take_types_from_the_newest()
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
    load_tool(f"file://{path}", loading_context())
    os.unlink(path)
