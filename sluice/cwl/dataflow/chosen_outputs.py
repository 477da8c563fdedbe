"""Steps for workflow outputs that are joined from several sources or chosen from them."""

from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.dataflow.merging import find_pick
from sluice.cwl.documents.types import without_null
from sluice.cwl.documents.workflow import Link, Port, Step, Workflow

#: The name of the input and the output of such a step.
PORT = "file"


def add_choosing_steps(workflow: Workflow) -> None:
    """Feed each workflow output that has several sources or a choice from a new step.

    The tool of the new step passes on the file that it gets.
    """
    for name, link in workflow.outputs.items():
        if link.sources is None or (len(link.sources) == 1 and find_pick(link) is None):
            continue
        step = _choosing_step(_free_name(name, workflow), link, workflow.output_types[name])
        workflow.steps[step.name] = step
        workflow.outputs[name] = Link(
            name, link.place, [f"{step.name}/{PORT}"], link.source_place, CommentedMap()
        )


def _free_name(name: str, workflow: Workflow) -> str:
    while name in workflow.steps:
        name += "_"
    return name


def _choosing_step(name: str, link: Link, output_type: Any) -> Step:
    """Return the step that passes on what the link of an output brings.

    Args:
        name: The name of the step.
        link: The link of the output.
        output_type: The declared type of the output. It is the type of the chosen value, or of the
            list of all values.
    """
    item_type = without_null(output_type)
    if find_pick(link) is None:
        item_type = (
            item_type["items"]
            if isinstance(item_type, dict) and item_type.get("type") == "array"
            else "Any"
        )
    port = Port(PORT, link.place, item_type, CommentedMap())
    body = CommentedMap(
        (key, link.body[key]) for key in ("linkMerge", "pickValue") if key in link.body
    )
    body.lc.data = dict(link.body.lc.data or {})
    tool = CommentedMap(
        {
            "class": "Workflow",
            "inputs": CommentedMap({PORT: CommentedMap({"type": item_type})}),
            "outputs": CommentedMap(
                {PORT: CommentedMap({"type": item_type, "outputSource": PORT})}
            ),
            "steps": CommentedSeq(),
        }
    )
    return Step(
        name=name,
        place=link.place,
        body=CommentedMap(),
        links={PORT: Link(PORT, link.place, link.sources, link.source_place, body)},
        outputs={PORT: link.place},
        scatter=[] if find_pick(link) else [PORT],
        tool=tool,
        tool_inputs={PORT: port},
        tool_outputs={PORT: port},
        for_output=link.name,
    )
