"""The text of a composed workflow, readable for people, with the reason of each link."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sluice.cwl.composing.compose import (
    ComposedStep,
    ComposedWorkflow,
    LinkMethod,
    ToolLink,
    type_of,
)
from sluice.cwl.documents.types import short_form
from sluice.cwl.properties.extension_reader import NAMESPACE
from sluice.text.visible_text import quoted

_WHY = {
    LinkMethod.WHOLE: "as it is",
    LinkMethod.EACH: "each by itself",
    LinkMethod.ALONE: "as a list of one",
}


def workflow_text(joined: ComposedWorkflow, *, labels: Mapping[str, str]) -> str:
    """Return the text of a composed workflow that has no misfits.

    Args:
        joined: The workflow.
        labels: By step, the tool that it runs.
    """
    return "\n".join(_lines(joined, labels)) + "\n"


def _lines(joined: ComposedWorkflow, labels: Mapping[str, str]) -> Iterator[str]:
    assert joined.data is not None  # noqa: S101 - without it there are misfits
    yield f"cwlVersion: {joined.steps[0].tool.version}"
    yield "class: Workflow"
    yield f"# Composed of the tools {', '.join(labels[step.name] for step in joined.steps)}."
    yield "# A template like any other: read it, change it, publish it."
    yield from _namespaces(joined)
    if joined.bind:
        yield f"sluice:bind: {_json(joined.bind)}"
    yield f"requirements: {_json(_requirements(joined))}"
    yield "inputs:"
    yield "  # the data set"
    yield f"  {joined.data.port}: {_json(short_form(type_of(joined.data)))}"
    for step in joined.steps:
        for port, name in step.parameters.items():
            yield from _parameter(joined, step, port, name)
    yield "outputs:"
    for name, offer in joined.outputs.items():
        body: dict[str, Any] = {"type": _short(type_of(offer)), "outputSource": offer.source}
        if offer.optional and offer.depth:
            body["pickValue"] = "all_non_null"
        yield f"  {name}: {_json(body)}"
    yield "steps:"
    for step in joined.steps:
        yield from _step(step, labels[step.name])


def _namespaces(joined: ComposedWorkflow) -> Iterator[str]:
    found = {key: url for step in joined.steps for key, url in step.tool.namespaces.items()}
    if joined.bind or any(step.tool.fields for step in joined.steps):
        found["sluice"] = NAMESPACE
    if found:
        yield f"$namespaces: {_json(found)}"


def _requirements(joined: ComposedWorkflow) -> dict[str, dict[str, Any]]:
    links = [link for step in joined.steps for link in step.links.values()]
    lists = any(link.how is LinkMethod.ALONE or _leaves_out(link) for link in links)
    needed = {
        "ScatterFeatureRequirement": any(step.scatter for step in joined.steps),
        "MultipleInputFeatureRequirement": lists,
    }
    return {name: {} for name, is_needed in needed.items() if is_needed}


def _parameter(joined: ComposedWorkflow, step: ComposedStep, port: str, name: str) -> Iterator[str]:
    found = joined.parameters[name]
    said = f"{quoted(port)} of {step.name}"
    if found.doc:
        said += f": {found.doc.splitlines()[0][:80]}"
    yield f"  # {said}"
    body: dict[str, Any] = {"type": _short(found.type)}
    if found.default is not None:
        body["default"] = found.default
    yield f"  {name}: {_json(body)}"


def _step(step: ComposedStep, label: str) -> Iterator[str]:
    yield f"  # {label}"
    for port, link in step.links.items():
        yield f"  # {quoted(port)} takes {link.offer.words}, {_WHY[link.how]}"
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
    yield f"    out: {_json([offer.port for offer in step.offers()])}"
    yield "    run:"
    for line in step.tool.body.splitlines():
        yield f"      {line}" if line.strip() else ""


def _source(link: ToolLink) -> str:
    if link.how is LinkMethod.ALONE:
        return _json({"source": [link.offer.source], "linkMerge": "merge_nested"})
    if _leaves_out(link):
        return _json({"source": link.offer.source, "pickValue": "all_non_null"})
    return link.offer.source


def _leaves_out(link: ToolLink) -> bool:
    """Return whether some jobs of the upstream step may give nothing."""
    return link.offer.optional and link.offer.depth > 0


def _short(kind: Any) -> Any:
    """Return the short form of a type, or the type itself if no short form is exact."""
    short = short_form(kind)
    plain = short.rstrip("?").replace("[]", "")
    return short if plain.isidentifier() and plain not in {"record", "enum"} else kind


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
