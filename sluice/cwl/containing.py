"""Steps whose jobs are workflows of their own: expressions of a step are worked out inside the job, by its pilot."""

from typing import Any

from sluice.contracts.states import InputMode, TaskMode
from sluice.cwl.cwltypes import ARRAY_OF_FILES, normal_type
from sluice.cwl.links import Wiring
from sluice.cwl.model import Link, Step
from sluice.cwl.tree import plain

#: The one step of such a workflow.
INNER = "run"

_FEATURES = (
    "MultipleInputFeatureRequirement",
    "ScatterFeatureRequirement",
    "StepInputExpressionRequirement",
    "SubworkflowFeatureRequirement",
)
#: Requirements of the tool that the expressions of its step need, too.
_OF_EXPRESSIONS = frozenset({"InlineJavascriptRequirement", "SchemaDefRequirement"})
#: Fields of a step's input that hold within the job.
_OF_LINKS = ("valueFrom", "loadContents", "loadListing")
_ANYTHING = ["null", "Any"]


def workflow_features() -> list[dict[str, Any]]:
    """Requirements that say what a workflow makes use of; naming one too many does no harm."""
    return [{"class": name} for name in _FEATURES]


def contained(step: Step, process: dict[str, Any], wiring: Wiring) -> dict[str, Any]:
    """A workflow that runs ``process`` once, as ``step`` does for one job. Its inputs are the step's, its outputs the step's."""
    modes = {side.link.name: side.mode for side in wiring.side_links[step.name]}
    first = wiring.data_links[step.name].name
    modes[first] = InputMode.ALL if wiring.modes[step.name] is TaskMode.MERGE else InputMode.EACH
    fed = [link for link in step.links.values() if link.sources is not None or "default" in link.body]
    inner: dict[str, Any] = {
        "run": {key: value for key, value in process.items() if key not in {"cwlVersion", "$namespaces"}},
        "in": {link.name: _inner_link(link, fed=link in fed) for link in step.links.values()},
        "out": list(step.outputs),
    }
    if step.conditional:
        inner["when"] = plain(step.body["when"])
    needed = [one for one in process.get("requirements", ()) if one["class"] in _OF_EXPRESSIONS]
    return {
        "cwlVersion": process["cwlVersion"],
        "class": "Workflow",
        "id": step.name,
        **({"$namespaces": process["$namespaces"]} if "$namespaces" in process else {}),
        "requirements": [*needed, *workflow_features()],
        "inputs": {link.name: {"type": _type(modes.get(link.name))} for link in fed},
        "outputs": {
            port: {"type": plain(normal_type(["null", step.tool_outputs[port].type])), "outputSource": f"{INNER}/{port}"}
            for port in step.outputs
        },
        "steps": {INNER: inner},
    }


def _inner_link(link: Link, *, fed: bool) -> dict[str, Any]:
    own = {key: plain(link.body[key]) for key in _OF_LINKS if key in link.body}
    return {"source": link.name, **own} if fed else own


def _type(mode: InputMode | None) -> Any:
    """Of an input that takes files, how many; what a parameter is, was checked where the workflow takes it."""
    if mode is None:
        return _ANYTHING
    return ARRAY_OF_FILES if mode is InputMode.ALL else ["null", "File"]
