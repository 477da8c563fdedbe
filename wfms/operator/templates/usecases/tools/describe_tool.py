"""Describe the ports of a tool."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sluice.contracts.templates.tools import PortOfTool
from wfms.operator.templates.usecases.tools.tool_workflow import parse_tool

if TYPE_CHECKING:
    from sluice.cwl.composing import LibraryTool


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """The ports of a tool as JSON (``inputs`` and ``outputs``) and its documentation."""

    ports: dict[str, Any]
    doc: str


async def describe_tool(name: str, text: str) -> ToolDescription:
    """Return the ports and the documentation of a tool.

    Raises:
        ToolRefused: The text is no tool that can be joined with others.
    """
    tool = await asyncio.to_thread(parse_tool, name, text)
    return ToolDescription(
        {
            "inputs": [_describe_port(port, tool) for port in tool.inputs.values()],
            "outputs": [_describe_port(port, tool) for port in tool.outputs.values()],
        },
        tool.doc,
    )


def _describe_port(port: Any, tool: "LibraryTool") -> dict[str, Any]:
    from sluice.cwl.documents.types import short_form  # noqa: PLC0415 - slow to import, and only needed here

    return PortOfTool(
        name=port.name,
        type=short_form(port.type),
        default=port.default,
        format=port.format,
        bound=tool.bind.get(port.name),
        doc=port.doc,
    ).model_dump(mode="json")
