"""The input of the workflow that is the data set of a chain, and inputs that are bundles."""

from sluice.contracts.templates.secondary_files import read_patterns
from sluice.cwl.documents.types import (
    ARRAY_OF_DIRECTORIES,
    ARRAY_OF_FILES,
    contains_files,
    is_list,
    is_optional,
    type_alternatives,
    without_null,
)
from sluice.cwl.documents.workflow import Port, Workflow


def find_data_input(workflow: Workflow, assets: frozenset[str]) -> str | None:
    """Return the first File[] input, else the first Directory[] input, else None.

    Args:
        workflow: The workflow.
        assets: The inputs that are bound to assets, and so are not data sets.
    """
    inputs = [
        port
        for port in workflow.inputs.values()
        if port.name not in assets and not is_bundle_input(port)
    ]
    return next(
        (
            port.name
            for kind in (ARRAY_OF_FILES, ARRAY_OF_DIRECTORIES)
            for port in inputs
            if port.type == kind
        ),
        None,
    )


def is_bundle_input(port: Port) -> bool:
    """Return whether the value of an input is one bundle: files within any other type.

    A value of the type ``Any`` may be or contain files, too.
    A File, a Directory, and a list of one of these that is always given, are data sets instead.
    """
    kind = without_null(port.type)
    if not contains_files(kind) and "Any" not in type_alternatives(kind):
        return False
    if kind in (ARRAY_OF_FILES, ARRAY_OF_DIRECTORIES):
        plain = not is_optional(port.type) and port.body.get("default") is None
    else:
        plain = kind in ("File", "Directory")
    return not plain or None in read_patterns(port.body.get("secondaryFiles"))


def find_bundle_lists(workflow: Workflow, assets: frozenset[str]) -> frozenset[str]:
    """Return the inputs that are data sets of bundles.

    Each is a list that is always given, and that a step scatters over and does not join with
    others.
    """
    scattered = {
        source
        for step in workflow.steps.values()
        for name in step.scatter
        if name in step.links
        and len(sources := step.links[name].sources or ()) == 1
        and not {"linkMerge", "pickValue"} & step.links[name].body.keys()
        for source in sources
    }
    return frozenset(
        port.name
        for port in workflow.inputs.values()
        if port.name in scattered - assets
        and is_bundle_input(port)
        and is_list(port.type)
        and port.body.get("default") is None
    )
