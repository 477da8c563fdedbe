"""Steps whose jobs are separate workflows, in which pilots evaluate the step's expressions."""

from typing import Any

from sluice.contracts.common.states import EntryKind, InputMode
from sluice.cwl.dataflow.hidden_lists import input_modes
from sluice.cwl.dataflow.joined_values import source_names
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.types import ARRAY_OF_FILES, normal_type, without_null
from sluice.cwl.documents.workflow import Link, Step
from sluice.cwl.features import LINK_FIELDS, WORKFLOW_REQUIREMENTS
from sluice.cwl.reading.nodes import plain_json

#: The name of the one step of such a workflow.
INNER = "run"

#: Fields of a step's input that apply within the job.
_LINK_FIELDS = tuple(LINK_FIELDS)
#: Fields of a step's input by which a job joins values, or replaces null.
_JOIN_FIELDS = ("linkMerge", "pickValue", "default")
#: Fields of a tool's input that cwltool expects at the source of the value, too.
_PORT_FIELDS = ("secondaryFiles",)
_ANYTHING = ["null", "Any"]


def workflow_features() -> list[dict[str, Any]]:
    """Return the requirements of all features that a workflow may use. Unused ones do no harm."""
    return [{"class": name} for name in WORKFLOW_REQUIREMENTS]


def wrap_in_workflow(
    step: Step,
    process: dict[str, Any],
    wiring: Wiring,
    *,
    version: str,
    javascript: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a workflow that runs ``process`` once, as ``step`` does for one job.

    It has the inputs and outputs of the step.

    Args:
        step: The step.
        process: The process, which keeps its own version and requirements.
        wiring: The links of the workflow.
        version: The CWL version for the step's expressions.
        javascript: The JavaScript requirement for the step's expressions.
    """
    modes = input_modes(step, wiring)
    links_with_value = [
        link for link in step.links.values() if link.sources is not None or "default" in link.body
    ]
    inner: dict[str, Any] = {
        "run": {key: value for key, value in process.items() if key != "$namespaces"},
        "in": {
            link.name: _inner_link(step, link, has_value=link in links_with_value)
            for link in step.links.values()
        },
        "out": list(step.outputs),
    }
    if step.conditional:
        inner["when"] = plain_json(step.body["when"])
    types = [
        requirement
        for requirement in process.get("requirements", ())
        if requirement["class"] == "SchemaDefRequirement"
    ]
    return {
        "cwlVersion": version,
        "class": "Workflow",
        "id": step.name,
        **({"$namespaces": process["$namespaces"]} if "$namespaces" in process else {}),
        "requirements": [*javascript, *types, *workflow_features()],
        "inputs": {
            name: _input(step, link, modes.get(link.name), wiring)
            for link in links_with_value
            for name in _source_names(step, link)
        },
        "outputs": {
            port: {
                "type": _output_type(step.tool_outputs[port].type),
                "outputSource": f"{INNER}/{port}",
            }
            for port in step.outputs
        },
        "steps": {INNER: inner},
    }


def _source_names(step: Step, link: Link) -> list[str]:
    is_joined = link.name in step.joined_values and link.sources is not None
    return source_names(step, link.name, len(link.sources or ()) if is_joined else 1)


def _inner_link(step: Step, link: Link, *, has_value: bool) -> dict[str, Any]:
    is_joined = link.name in step.joined_values
    keys = (*_LINK_FIELDS, *(_JOIN_FIELDS if is_joined else ()))
    fields = {key: plain_json(link.body[key]) for key in keys if key in link.body}
    names = _source_names(step, link)
    source = names if len(names) > 1 or "linkMerge" in fields else names[0]
    return {"source": source, **fields} if has_value else fields


def _input(step: Step, link: Link, mode: InputMode | None, wiring: Wiring) -> dict[str, Any]:
    """Return the declaration of a workflow input, which says how many files an input gets.

    The types of other values were checked at their source.
    """
    tool_input = step.tool_inputs.get(link.name)
    declared = (
        {}
        if tool_input is None
        else {
            key: plain_json(tool_input.body[key]) for key in _PORT_FIELDS if key in tool_input.body
        }
    )
    stream = wiring.find_stream(step.name, link.name)
    if mode is None or stream is None or stream.folder or stream.kind is EntryKind.BUNDLE:
        return {"type": _ANYTHING, **declared}
    return {"type": ARRAY_OF_FILES if mode is InputMode.ALL else ["null", "File"], **declared}


def _output_type(kind: Any) -> Any:
    """Return the declared type of an output. Types other than File are checked in the tool."""
    return normal_type(["null", kind]) if without_null(kind) == "File" else _ANYTHING
