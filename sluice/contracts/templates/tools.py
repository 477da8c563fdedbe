"""The library of tools: CommandLineTools with names and versions, and workflows made of them."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from sluice.contracts.access.owners import GroupName
from sluice.contracts.common.base import Contract, Name, Timestamp
from sluice.contracts.common.problems import Finding
from sluice.contracts.common.wording import StringRule, name_rule
from sluice.contracts.templates.templates import Template

#: The most tools of one workflow.
MAX_TOOLS = 100

ToolName = Annotated[
    str,
    name_rule("a tool's name", first="A-Za-z_", other="A-Za-z0-9_.-", max_length=100),
]

#: A tool: ``layout`` is the newest version, ``layout@3`` is version 3.
ToolRef = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}(@[1-9][0-9]{0,8})?$"),
    StringRule(
        "a tool",
        first="[A-Za-z_]",
        other="[A-Za-z0-9_.@-]",
        max_length=110,
        rule="is named as NAME, or NAME@VERSION",
    ),
]


class NewTool(Contract):
    """A request to store a tool.

    Attributes:
        name: The name of the tool.
        cwl: The text of a CommandLineTool. The same text gives the stored version.
        group: The group that is to own a new name. Defaults to a group of the person who stores it.
    """

    name: ToolName
    cwl: Annotated[str, Field(max_length=256 * 1024)]
    group: GroupName | None = None


class PortOfTool(Contract):
    """An input or output of a tool.

    Attributes:
        name: The name of the port.
        type: The type in CWL's short form.
        default: The default value.
        format: The file format.
        bound: The source of its value that the tool itself states, as in ``sluice:bind``.
        doc: The documentation of the port.
    """

    name: str
    type: str
    default: Any = None
    format: str | None = None
    bound: str | None = None
    doc: str = ""


class Tool(Contract):
    """A version of a tool.

    Attributes:
        name: The name of the tool.
        version: The number of the version.
        created_at: When it was stored.
        doc: The documentation of the tool.
        inputs: Its inputs.
        outputs: Its outputs.
        cwl: The text, if the request is about one version.
    """

    name: str
    version: int
    created_at: Timestamp
    doc: str
    inputs: list[PortOfTool]
    outputs: list[PortOfTool]
    cwl: str | None = None

    @property
    def label(self) -> str:
        """The name and the version."""
        return f"{self.name} {self.version}"


class StoredTool(Contract):
    """The result of storing a tool.

    Attributes:
        tool: The stored version.
        new: Whether the request created the version.
        warnings: Warnings of the compiler.
    """

    tool: Tool
    new: bool
    warnings: list[Finding] = Field(default_factory=list)


class ToolList(Contract):
    """The newest version of each tool by name, or all versions of one tool, newest first."""

    tools: list[Tool]


class ComposeTools(Contract):
    """A request to make a workflow of tools.

    Attributes:
        name: The name of the workflow.
        tools: The tools, in the order of the steps.
        bind: Sources of values by parameter, as in ``sluice:bind``.
        store: Publish the workflow as the next version of the template of this name. Otherwise only
            its text is returned.
    """

    name: Name
    tools: Annotated[list[ToolRef], Field(min_length=1, max_length=MAX_TOOLS)]
    bind: Annotated[
        dict[str, Annotated[str, StringConstraints(max_length=500)]],
        Field(max_length=MAX_TOOLS),
    ] = Field(default_factory=dict)
    store: bool = False


class Composition(Contract):
    """A workflow that was made of tools.

    Attributes:
        name: The name of the workflow.
        cwl: The text of the workflow.
        findings: Errors and warnings of the compiler. A workflow with errors cannot be published.
        template: The published template, if the request asks to publish it.
    """

    name: str
    cwl: str
    findings: list[Finding] = Field(default_factory=list)
    template: Template | None = None
