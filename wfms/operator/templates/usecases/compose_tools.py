"""Composition of a workflow from tools of the library. The result is a template like any other."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import structlog

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.tools import ComposeTools, Composition, PortOfTool, Tool
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import tools
from wfms.operator.templates.domain.errors import ToolRefused, ToolsDoNotFit, ToolUnknown
from wfms.operator.templates.domain.submitted_files import UNNAMED, SubmittedFiles
from wfms.operator.templates.usecases.compile_files import Compiler
from wfms.operator.templates.usecases.store_template import store_template

if TYPE_CHECKING:
    from sluice.cwl.composing import LibraryTool

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """The ports of a tool as JSON (``inputs`` and ``outputs``) and its documentation."""

    ports: dict[str, Any]
    doc: str


async def compose_tools(context: OperatorContext, asked: ComposeTools) -> Composition:
    """Join tools to a workflow and, if requested, store it as the next version of a template.

    Raises:
        ToolUnknown: A tool does not exist; the exception names the tools that would fit there.
        ToolsDoNotFit: The tools cannot be joined; the exception has every reason.
        TemplateRefused: The compiler rejects the workflow that is to be stored.
    """
    chosen = await _chosen(context, asked)
    text, misfits = await asyncio.to_thread(_composed, chosen, asked.bind)
    if misfits:
        raise ToolsDoNotFit(asked.name, misfits)
    sent = SubmittedFiles({UNNAMED: text})
    if not asked.store:
        checked = await context.compiler.compile(await context.compiler.take(sent), name=asked.name)
        return Composition(name=asked.name, cwl=text, findings=checked.findings)
    outcome = await store_template(context, sent, name=asked.name, template_id=uuid4())
    log.info("template.composed", template=asked.name, tools=asked.tools)
    template = outcome.template
    return Composition(
        name=asked.name, cwl=text, findings=template.warnings, template=template.contract()
    )


async def described(name: str, text: str) -> ToolDescription:
    """Return the ports and the documentation of a tool.

    Raises:
        ToolRefused: The text is no tool that can be joined with others.
    """
    tool = await asyncio.to_thread(_read, name, text)
    return ToolDescription(
        {
            "inputs": [_port(port, tool) for port in tool.inputs.values()],
            "outputs": [_port(port, tool) for port in tool.outputs.values()],
        },
        tool.doc,
    )


async def checked_text(compiler: Compiler, name: str, text: str) -> list[Finding]:
    """Compile a workflow of this tool alone and return the findings.

    Inputs that other tools would provide are replaced by assets.

    Raises:
        ToolRefused: The text is no tool that can run alone.
    """
    tool = await asyncio.to_thread(_read, name, text)
    files = [port.name for port in tool.inputs.values() if port.item is not None]
    others = [port for port in files if port not in tool.bind][1:]
    alone = replace(tool, bind={**dict.fromkeys(others, "asset:any"), **tool.bind})
    workflow, misfits = await asyncio.to_thread(_text_of, [(name, alone)], [name], {})
    if misfits:
        raise ToolRefused(name, [Finding(message=misfit) for misfit in misfits])
    checked = await compiler.compile(
        await compiler.take(SubmittedFiles({UNNAMED: workflow})), name=name
    )
    return [
        Finding(message=finding.message, severity=finding.severity) for finding in checked.findings
    ]


async def _chosen(context: OperatorContext, asked: ComposeTools) -> list[Tool]:
    """Return the requested tools.

    Raises:
        ToolUnknown: A tool does not exist.
    """
    chosen: list[Tool] = []
    async with context.database.connection() as connection:
        for ref in asked.tools:
            name, _, number = ref.partition("@")
            versions = await tools.versions_of(connection, name)
            found = next(
                (tool for tool in versions if not number or tool.version == int(number)), None
            )
            if found is None:
                library = await tools.newest_tools(connection)
                known = [tool.version for tool in versions]
                fitting = [] if known else await asyncio.to_thread(_fitting, chosen, library)
                version = int(number) if number else None
                raise ToolUnknown(name, version, known=known, fitting=fitting)
            chosen.append(found)
    return chosen


def _composed(chosen: Sequence[Tool], bind: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the text of the workflow, or the reasons why the tools do not fit.

    Raises:
        ToolRefused: The text of a tool is not valid.
    """
    named = [(tool.name, _read(tool.name, tool.cwl or "")) for tool in chosen]
    return _text_of(named, [f"{tool.name} {tool.version}" for tool in chosen], bind)


def _text_of(
    named: Sequence[tuple[str, "LibraryTool"]], labels: Sequence[str], bind: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Return the text of a workflow of the tools, or the reasons why they do not fit."""
    from sluice.cwl.composing import join_tools, workflow_text  # noqa: PLC0415 - slow to import, and only needed here

    joined = join_tools(named, bind=bind)
    if joined.misfits:
        return "", joined.misfits
    told = {step.name: label for step, label in zip(joined.steps, labels, strict=True)}
    return workflow_text(joined, labels=told), []


def _fitting(before: Sequence[Tool], library: Sequence[Tool]) -> list[str]:
    from sluice.cwl.composing.compose import fitting  # noqa: PLC0415 - as above

    known = {tool.name: _read(tool.name, tool.cwl or "") for tool in library}
    return fitting([(tool.name, _read(tool.name, tool.cwl or "")) for tool in before], known)


def _read(name: str, text: str) -> "LibraryTool":
    from sluice.cwl.composing import read_tool  # noqa: PLC0415 - as above

    tool, findings = read_tool(text, file=f"{name}.cwl")
    if tool is None:
        raise ToolRefused(name, findings)
    return tool


def _port(port: Any, tool: "LibraryTool") -> dict[str, Any]:
    from sluice.cwl.documents.types import short_form  # noqa: PLC0415 - as above

    return PortOfTool(
        name=port.name,
        type=short_form(port.type),
        default=port.default,
        format=port.format,
        bound=tool.bind.get(port.name),
        doc=port.doc,
    ).model_dump(mode="json")
