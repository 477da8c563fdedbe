"""A workflow of one step, which runs a whole process inside one job.

It takes the place of a tool, and of a workflow whose steps cannot be spread over data sets.
"""

from collections.abc import Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.document import Document
from sluice.cwl.documents.types import normal_type
from sluice.cwl.documents.workflow import declared_type
from sluice.cwl.reading.findings import text_place
from sluice.cwl.reading.nodes import NamedNode, clone, map_at, mappings, named_nodes, put_at

_STEPS = {"Workflow": "workflow"}
_TOOL = "tool"
_FEATURES = ("ScatterFeatureRequirement", "SubworkflowFeatureRequirement")
_TYPE_FIELDS = ("type", "items", "fields", "symbols", "name")
#: Fields of an input or output that apply outside the job, too.
_PORT_FIELDS = ("doc", "label", "secondaryFiles")


def wrap_in_single_step(
    document: Document, process: CommentedMap, *, scatter: bool = False
) -> CommentedMap:
    """Return a document with a workflow that runs ``process`` as its only step.

    The workflow has the extension fields of the process. An input whose default has files is
    optional: the default applies inside the job.

    Args:
        document: The document of the process.
        process: The process, which is self-contained.
        scatter: Whether the step scatters over the first input that is a single file.
    """
    place, name = text_place(process), _STEPS.get(process["class"], _TOOL)
    inputs, outputs = named_nodes(process.get("inputs")), named_nodes(process.get("outputs"))
    scattered = _first_file(inputs) if scatter else None
    step = {
        "run": _without_output_extensions(process),
        "in": {entry.name: entry.name for entry in inputs},
        "out": [entry.name for entry in outputs],
        **({} if scattered is None else {"scatter": [scattered]}),
    }
    types = [
        {**clone(entry.body), "class": entry.name}
        for entry in named_nodes(process.get("requirements"), "class")
        if entry.name == "SchemaDefRequirement" and entry.body is not None
    ]
    workflow = map_at(
        place,
        {
            "cwlVersion": document.version,
            "class": "Workflow",
            **({"$namespaces": document.namespaces} if document.namespaces else {}),
            "requirements": [*({"class": feature} for feature in _FEATURES), *types],
            "inputs": {
                entry.name: _input(entry, is_list=entry.name == scattered) for entry in inputs
            },
            "outputs": {
                entry.name: _output(entry, f"{name}/{entry.name}", is_list=scattered is not None)
                for entry in outputs
            },
            "steps": {name: step},
        },
    )
    for key, value in document.workflow.items():
        if ":" in key:
            put_at(workflow, key, value, text_place(document.workflow, key))
    return workflow


def _without_output_extensions(process: CommentedMap) -> CommentedMap:
    """Return a copy of a process whose outputs have no extension fields: the workflow has them."""
    copy: CommentedMap = clone(process)
    for entry in named_nodes(copy.get("outputs")):
        for key in [key for key in entry.body or () if ":" in key]:
            del entry.body[key]  # type: ignore[union-attr]  # without a body there are no keys
    return copy


def _first_file(inputs: list[NamedNode]) -> str | None:
    return next((entry.name for entry in inputs if _type(entry) == "File"), None)


def _input(entry: NamedNode, *, is_list: bool) -> CommentedMap:
    kind, body = _type(entry), entry.body or {}
    fields = _port_fields(body)
    if "default" in body:
        if any(part.get("class") in ("File", "Directory") for part in mappings(body["default"])):
            kind = normal_type(["null", kind])
        else:
            fields["default"] = clone(body["default"])
    return map_at(entry.place, {"type": _list_of(kind) if is_list else kind, **fields})


def _output(entry: NamedNode, source: str, *, is_list: bool) -> CommentedMap:
    kind, body = _type(entry), entry.body or {}
    extensions = {key: body[key] for key in body if ":" in key}
    return map_at(
        entry.place,
        {
            "type": _list_of(kind) if is_list else kind,
            "outputSource": source,
            **_port_fields(body),
            **extensions,
        },
    )


def _port_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: clone(body[key]) for key in _PORT_FIELDS if key in body}


def _type(entry: NamedNode) -> Any:
    if entry.body is None:
        return normal_type(entry.value)
    declared = declared_type(entry.body)
    if declared is entry.body:  # the fields of the type stand among those of the port
        declared = {key: declared[key] for key in _TYPE_FIELDS if key in declared}
    return normal_type(declared)


def _list_of(kind: Any) -> dict[str, Any]:
    return {"type": "array", "items": kind}
