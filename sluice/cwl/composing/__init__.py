"""Composition of workflows from tools of the library."""

from sluice.cwl.composing.compose import ComposedWorkflow, join_tools
from sluice.cwl.composing.library_tool import LibraryTool, ToolPort, read_tool
from sluice.cwl.composing.writing import workflow_text

__all__ = [
    "ComposedWorkflow",
    "LibraryTool",
    "ToolPort",
    "join_tools",
    "read_tool",
    "workflow_text",
]
