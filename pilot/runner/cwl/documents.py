"""CWL processes from their documents, with cwltool as a library."""

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
from pilot.runner.cwl.process_files import write_process
from pilot.runner.cwl.wording import plain
from pilot.runner.failures import AttemptError
from sluice.contracts.states import ErrorClass

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


def load_document(document: Mapping[str, Any], folder: str, what: str) -> Any:
    """A process as a person wrote it. ``folder``: for a file that cwltool reads it from. Raises
    ``AttemptError``."""
    path = f"{folder}/{os.getpid()}.cwl"
    written = write_process(document, path)
    try:
        return load_tool(f"file://{path}", loading_context())
    except CWL_ERRORS as error:
        raise AttemptError(
            ErrorClass.TOOL_FAILED, f"{what} cannot be used: {plain(error)}"
        ) from error
    finally:
        for one in written:
            os.unlink(one)


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
            ErrorClass.TOOL_FAILED, f"the process cannot be used: {plain(error)}"
        ) from error
