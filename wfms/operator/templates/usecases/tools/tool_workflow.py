"""Tools as texts, and the workflows that join them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from wfms.operator.templates.domain.errors import ToolRefused

if TYPE_CHECKING:
    from sluice.cwl.composing import LibraryTool


def write_workflow(
    named_tools: Sequence[tuple[str, "LibraryTool"]], labels: Sequence[str], bind: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Return the text of a workflow of the tools, or the reasons why they do not fit."""
    from sluice.cwl.composing import join_tools, workflow_text  # noqa: PLC0415 - slow to import, and only needed here

    joined = join_tools(named_tools, bind=bind)
    if joined.misfits:
        return "", joined.misfits
    labels_by_step = {step.name: label for step, label in zip(joined.steps, labels, strict=True)}
    return workflow_text(joined, labels=labels_by_step), []


def parse_tool(name: str, text: str) -> "LibraryTool":
    """Return the tool that a text describes.

    Raises:
        ToolRefused: The text is no tool that can be joined with others.
    """
    from sluice.cwl.composing import read_tool  # noqa: PLC0415 - as above

    tool, findings = read_tool(text, file=f"{name}.cwl")
    if tool is None:
        raise ToolRefused(name, findings)
    return tool
