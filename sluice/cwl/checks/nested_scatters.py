"""Warning of workflows that scatter over data inside one job.

Some fields of the step around the workflow apply to the workflow as a whole. They force it into one
job.
"""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.workflow import Step
from sluice.cwl.features import JOB_FIELDS, LINK_FIELDS
from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.cwl.reading.nodes import as_list, named_nodes
from sluice.text.visible_text import quoted


def warn_of_nested_scatters(flow: Dataflow, findings: Findings) -> None:
    """Warn of workflows that scatter over data inside one job.

    They are valid but slow, because one job runs on one node.
    """
    for step in flow.workflow.steps.values():
        if (
            step.scatter
            or step.tool.get("class") != "Workflow"
            or not _scatters(step.tool, _list_inputs(step, flow.wiring))
        ):
            continue
        for reason, place in _reasons(step):
            findings.warning(
                place,
                f"the workflow of step {quoted(step.name)} scatters over data and runs inside one"
                f" job, because of {reason}: write that at its steps, and they become separate"
                " steps",
            )


def _reasons(step: Step) -> Iterator[tuple[str, TextPlace]]:
    for key in JOB_FIELDS:
        if key in step.body:
            yield quoted(key), text_place(step.body, key)
    for link in step.links.values():
        for key in LINK_FIELDS:
            if key in link.body:
                yield f"{quoted(key)} of {quoted(link.name)}", text_place(link.body, key)


def _list_inputs(step: Step, wiring: Wiring) -> set[str]:
    """Return the inputs of the step that take a data set as a list."""
    streams = {name: wiring.find_stream(step.name, name) for name in step.links}
    return {name for name, stream in streams.items() if stream is not None and stream.many}


def _scatters(workflow: CommentedMap, data: set[str]) -> bool:
    """Return whether a workflow scatters over data, itself or in nested workflows.

    Outputs of steps that read data count as data.

    Args:
        workflow: The workflow.
        data: Its inputs that are data.
    """
    steps = [
        (step.name, step.body, _links(step.body))
        for step in named_nodes(workflow.get("steps"))
        if step.body is not None
    ]
    steps_by_source: dict[str, list[str]] = {}
    for name, _, links in steps:
        for _, source in links:
            steps_by_source.setdefault(
                source if source in data else f"{source.partition('/')[0]}/", []
            ).append(name)
    downstream_steps: set[str] = set()
    pending = list(data)
    while pending:
        new_steps = set(steps_by_source.get(pending.pop(), ())) - downstream_steps
        downstream_steps |= new_steps
        pending += [f"{name}/" for name in new_steps]
    for _, body, links in steps:
        data_inputs = {
            name
            for name, source in links
            if source in data or source.partition("/")[0] in downstream_steps
        }
        run = body.get("run")
        if data_inputs & set(_strings(body.get("scatter"))):
            return True
        if (
            isinstance(run, CommentedMap)
            and run.get("class") == "Workflow"
            and _scatters(run, data_inputs)
        ):
            return True
    return False


def _links(step: CommentedMap) -> list[tuple[str, str]]:
    """Return the (input, source) pairs of a step."""
    links = [
        (link.name, link.value if link.body is None else link.body.get("source"))
        for link in named_nodes(step.get("in"))
    ]
    return [(name, source) for name, sources in links for source in _strings(sources)]


def _strings(value: Any) -> list[str]:
    """Return the texts of a value or list. Other checks report other values."""
    return [text for text in as_list(value) if isinstance(text, str)]
