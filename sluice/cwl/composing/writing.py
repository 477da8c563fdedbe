"""The text of a composed workflow, readable for people, with the reason of each link."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sluice.cwl.composing.compose import (
    ComposedStep,
    ComposedWorkflow,
    LinkMethod,
    ToolLink,
    output_type,
)
from sluice.cwl.documents.types import short_form
from sluice.cwl.features import NAMESPACE
from sluice.text.visible_text import quoted

_METHOD_WORDS = {
    LinkMethod.DIRECT: "as it is",
    LinkMethod.EACH: "each separately",
    LinkMethod.WRAPPED: "as a list of one",
}


def workflow_text(workflow: ComposedWorkflow, *, labels: Mapping[str, str]) -> str:
    """Return the text of a composed workflow that has no misfits.

    Args:
        workflow: The workflow.
        labels: The name of the tool that runs, by step.
    """
    return "\n".join(_lines(workflow, labels)) + "\n"


def _lines(workflow: ComposedWorkflow, labels: Mapping[str, str]) -> Iterator[str]:
    assert workflow.data is not None  # noqa: S101 - without it there are misfits
    yield f"cwlVersion: {workflow.steps[0].tool.version}"
    yield "class: Workflow"
    yield f"# Composed of the tools {', '.join(labels[step.name] for step in workflow.steps)}."
    yield "# A template like any other: read it, change it, publish it."
    yield from _namespaces(workflow)
    if workflow.bind:
        yield f"sluice:bind: {_json(workflow.bind)}"
    yield f"requirements: {_json(_requirements(workflow))}"
    yield "inputs:"
    yield "  # the data set"
    yield f"  {workflow.data.port}: {_json(short_form(output_type(workflow.data)))}"
    for step in workflow.steps:
        for port, name in step.parameters.items():
            yield from _parameter(workflow, step, port, name)
    yield "outputs:"
    for name, output in workflow.outputs.items():
        body: dict[str, Any] = {"type": _short(output_type(output)), "outputSource": output.source}
        if output.optional and output.depth:
            body["pickValue"] = "all_non_null"
        yield f"  {name}: {_json(body)}"
    yield "steps:"
    for step in workflow.steps:
        yield from _step(step, labels[step.name])


def _namespaces(workflow: ComposedWorkflow) -> Iterator[str]:
    namespaces = {key: url for step in workflow.steps for key, url in step.tool.namespaces.items()}
    if workflow.bind or any(step.tool.fields for step in workflow.steps):
        namespaces["sluice"] = NAMESPACE
    if namespaces:
        yield f"$namespaces: {_json(namespaces)}"


def _requirements(workflow: ComposedWorkflow) -> dict[str, dict[str, Any]]:
    links = [link for step in workflow.steps for link in step.links.values()]
    joins_lists = any(link.method is LinkMethod.WRAPPED or _omits_nulls(link) for link in links)
    needed = {
        "ScatterFeatureRequirement": any(step.scatter for step in workflow.steps),
        "MultipleInputFeatureRequirement": joins_lists,
    }
    return {name: {} for name, is_needed in needed.items() if is_needed}


def _parameter(
    workflow: ComposedWorkflow, step: ComposedStep, port: str, name: str
) -> Iterator[str]:
    parameter = workflow.parameters[name]
    comment = f"{quoted(port)} of {step.name}"
    if parameter.doc:
        comment += f": {parameter.doc.splitlines()[0][:80]}"
    yield f"  # {comment}"
    body: dict[str, Any] = {"type": _short(parameter.type)}
    if parameter.default is not None:
        body["default"] = parameter.default
    yield f"  {name}: {_json(body)}"


def _step(step: ComposedStep, label: str) -> Iterator[str]:
    yield f"  # {label}"
    for port, link in step.links.items():
        yield f"  # {quoted(port)} takes {link.candidate.words}, {_METHOD_WORDS[link.method]}"
    yield f"  {step.name}:"
    for key, value in step.tool.fields.items():
        yield f"    {key}: {_json(value)}"
    if step.scatter:
        yield f"    scatter: {_json(step.scatter)}"
        if len(step.scatter) > 1:
            yield "    scatterMethod: dotproduct"
    yield "    in:"
    for port, link in step.links.items():
        yield f"      {port}: {_source(link)}"
    for port, name in step.parameters.items():
        yield f"      {port}: {name}"
    yield f"    out: {_json([candidate.port for candidate in step.candidates()])}"
    yield "    run:"
    for line in step.tool.body.splitlines():
        yield f"      {line}" if line.strip() else ""


def _source(link: ToolLink) -> str:
    if link.method is LinkMethod.WRAPPED:
        return _json({"source": [link.candidate.source], "linkMerge": "merge_nested"})
    if _omits_nulls(link):
        return _json({"source": link.candidate.source, "pickValue": "all_non_null"})
    return link.candidate.source


def _omits_nulls(link: ToolLink) -> bool:
    """Return whether some jobs of the upstream step may give nothing."""
    return link.candidate.optional and link.candidate.depth > 0


def _short(kind: Any) -> Any:
    """Return the short form of a type, or the type itself if no short form is exact."""
    short = short_form(kind)
    plain = short.rstrip("?").replace("[]", "")
    return short if plain.isidentifier() and plain not in {"record", "enum"} else kind


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
