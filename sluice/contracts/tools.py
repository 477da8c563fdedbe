"""Tools as a library: CommandLineTools under a name and in versions, and workflows composed of
them."""

import operator
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from sluice.contracts.base import Contract, Name, Timestamp, absent
from sluice.contracts.owners import GroupName
from sluice.contracts.problems import Finding
from sluice.contracts.templates import Template
from sluice.contracts.wording import StringRule

#: Most tools of one workflow.
MOST_TOOLS = 100

ToolName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}$"),
    StringRule(
        "a tool's name",
        first="[A-Za-z_]",
        other="[A-Za-z0-9_.-]",
        most=100,
        rule=(
            "has letters (A to Z, a to z), digits and _.- only, at most 100, and begins with a"
            " letter or _"
        ),
    ),
]

#: ``layout`` for the newest version, ``layout@3`` for that one.
ToolRef = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}(@[1-9][0-9]{0,8})?$"),
    StringRule(
        "a tool",
        first="[A-Za-z_]",
        other="[A-Za-z0-9_.@-]",
        most=110,
        rule="is named as NAME, or NAME@VERSION",
    ),
]


class NewTool(Contract):
    """``cwl``: its text, a CommandLineTool. The same text is the same version. ``group``: that
    owns the name, where it is new; None: a group of the person who stores it."""

    name: ToolName
    cwl: Annotated[str, Field(max_length=256 * 1024)]
    group: Annotated[GroupName | None, Field(exclude_if=absent)] = None


class PortOfTool(Contract):
    """An input or output of a tool. ``type``: CWL's short form. ``bound``: what the tool says its
    value is, as ``sluice:bind`` does."""

    name: str
    type: str
    default: Annotated[Any, Field(exclude_if=absent)] = None
    format: Annotated[str | None, Field(exclude_if=absent)] = None
    bound: Annotated[str | None, Field(exclude_if=absent)] = None
    doc: str = ""


class Tool(Contract):
    """A version. ``cwl``: its text, where one version is asked for."""

    name: str
    version: int
    created_at: Timestamp
    doc: str
    inputs: list[PortOfTool]
    outputs: list[PortOfTool]
    cwl: Annotated[str | None, Field(exclude_if=absent)] = None

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"


class StoredTool(Contract):
    """``new``: whether the version was made now. ``warnings``: what a compiler says of it."""

    tool: Tool
    new: bool
    warnings: list[Finding] = Field(default_factory=list)


class ToolList(Contract):
    """By name, the newest version of each; or all versions of one, the newest first."""

    tools: list[Tool]


class ComposeTools(Contract):
    """A workflow of tools, in their order, called ``name``. ``bind``: its parameters that have
    their values by themselves, as ``sluice:bind`` says it. ``store``: publish it as the next
    version of the template of that name; else only its text is asked for."""

    name: Name
    tools: Annotated[list[ToolRef], Field(min_length=1, max_length=MOST_TOOLS)]
    bind: Annotated[
        dict[str, Annotated[str, StringConstraints(max_length=500)]],
        Field(max_length=MOST_TOOLS, exclude_if=operator.not_),
    ] = Field(default_factory=dict)
    store: bool = False


class Composition(Contract):
    """``cwl``: the text of the workflow. ``findings``: what a compiler says of it: warnings only,
    where it can be published. ``template``: what was published."""

    name: str
    cwl: str
    findings: list[Finding] = Field(default_factory=list)
    template: Annotated[Template | None, Field(exclude_if=absent)] = None
