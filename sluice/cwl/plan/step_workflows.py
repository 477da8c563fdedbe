"""Steps whose jobs are separate workflows, in which pilots evaluate the step's expressions."""

from collections.abc import Sequence
from typing import Any

from sluice.contracts.common.states import EntryKind, InputMode
from sluice.cwl.dataflow.hidden_lists import input_modes
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.streams import EntryStream
from sluice.cwl.documents.types import ARRAY_OF_FILES, normal_type, without_null
from sluice.cwl.documents.workflow import Link, Port, Step
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
    joining = {name for names in step.joined_links.values() for name in names}
    links_with_value = [
        link for link in step.links.values() if link.sources is not None or "default" in link.body
    ]
    inner: dict[str, Any] = {
        "run": {key: value for key, value in process.items() if key != "$namespaces"},
        "in": {
            link.name: _inner_link(step, link, has_value=link in links_with_value)
            for link in step.links.values()
            if link.name not in joining
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
        "inputs": _inputs(step, links_with_value, wiring),
        "outputs": {
            port: {
                "type": _output_type(step.tool_outputs[port].type),
                "outputSource": f"{INNER}/{port}",
            }
            for port in step.outputs
        },
        "steps": {INNER: inner},
    }


def _inner_link(step: Step, link: Link, *, has_value: bool) -> dict[str, Any]:
    names = step.joined_links.get(link.name)
    keys = (*_LINK_FIELDS, *(_JOIN_FIELDS if names else ()))
    fields = {key: plain_json(link.body[key]) for key in keys if key in link.body}
    if names and (len(names) > 1 or "linkMerge" in fields):
        return {"source": names, **fields}
    return {"source": names[0] if names else link.name, **fields} if has_value else fields


def _inputs(step: Step, links: Sequence[Link], wiring: Wiring) -> dict[str, Any]:
    """Return the inputs of the workflow: one for each link, or for each source of a joined link."""
    modes = input_modes(step, wiring)
    joined = {name: joined for joined, names in step.joined_links.items() for name in names}
    return {
        link.name: _input(
            modes.get(link.name),
            wiring.find_stream(step.name, link.name),
            step.tool_inputs.get(joined.get(link.name, link.name)),
        )
        for link in links
        if link.name not in step.joined_links
    }


def _input(
    mode: InputMode | None, stream: EntryStream | None, tool_input: Port | None
) -> dict[str, Any]:
    """Return the declaration of a workflow input, which says how many files an input gets.

    The types of other values were checked at their source.
    """
    declared = (
        {}
        if tool_input is None
        else {
            key: plain_json(tool_input.body[key]) for key in _PORT_FIELDS if key in tool_input.body
        }
    )
    if mode is None or stream is None or stream.folder or stream.kind is EntryKind.BUNDLE:
        return {"type": _ANYTHING, **declared}
    return {"type": ARRAY_OF_FILES if mode is InputMode.ALL else ["null", "File"], **declared}


def _output_type(kind: Any) -> Any:
    """Return the declared type of an output. Types other than File are checked in the tool."""
    return normal_type(["null", kind]) if without_null(kind) == "File" else _ANYTHING
