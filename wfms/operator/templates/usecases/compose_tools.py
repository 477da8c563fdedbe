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
from wfms.operator.templates.domain.errors import IncompatibleTools, ToolRefused, ToolUnknown
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


async def compose_tools(context: OperatorContext, request: ComposeTools) -> Composition:
    """Join tools to a workflow and, if requested, store it as the next version of a template.

    Raises:
        ToolUnknown: A tool does not exist; the exception names the tools that would fit there.
        IncompatibleTools: The tools cannot be joined; the exception has every reason.
        TemplateRefused: The compiler rejects the workflow that is to be stored.
    """
    chosen = await _find_tools(context, request)
    text, misfits = await asyncio.to_thread(_compose, chosen, request.bind)
    if misfits:
        raise IncompatibleTools(request.name, misfits)
    submitted = SubmittedFiles({UNNAMED: text})
    if not request.store:
        checked = await context.compiler.compile(
            await context.compiler.take(submitted), name=request.name
        )
        return Composition(name=request.name, cwl=text, findings=checked.findings)
    outcome = await store_template(context, submitted, name=request.name, template_id=uuid4())
    log.info("template.composed", template=request.name, tools=request.tools)
    template = outcome.template
    return Composition(
        name=request.name, cwl=text, findings=template.warnings, template=template.contract()
    )


async def describe_tool(name: str, text: str) -> ToolDescription:
    """Return the ports and the documentation of a tool.

    Raises:
        ToolRefused: The text is no tool that can be joined with others.
    """
    tool = await asyncio.to_thread(_read, name, text)
    return ToolDescription(
        {
            "inputs": [_describe_port(port, tool) for port in tool.inputs.values()],
            "outputs": [_describe_port(port, tool) for port in tool.outputs.values()],
        },
        tool.doc,
    )


async def check_tool_text(compiler: Compiler, name: str, text: str) -> list[Finding]:
    """Compile a workflow of this tool alone and return the findings.

    Inputs that other tools would provide are replaced by assets.

    Raises:
        ToolRefused: The text is no tool that can run alone.
    """
    tool = await asyncio.to_thread(_read, name, text)
    files = [port.name for port in tool.inputs.values() if port.item is not None]
    others = [port for port in files if port not in tool.bind][1:]
    alone = replace(tool, bind={**dict.fromkeys(others, "asset:any"), **tool.bind})
    workflow, misfits = await asyncio.to_thread(_write_workflow, [(name, alone)], [name], {})
    if misfits:
        raise ToolRefused(name, [Finding(message=misfit) for misfit in misfits])
    checked = await compiler.compile(
        await compiler.take(SubmittedFiles({UNNAMED: workflow})), name=name
    )
    return [
        Finding(message=finding.message, severity=finding.severity) for finding in checked.findings
    ]


async def _find_tools(context: OperatorContext, request: ComposeTools) -> list[Tool]:
    """Return the requested tools.

    Raises:
        ToolUnknown: A tool does not exist.
    """
    chosen: list[Tool] = []
    async with context.database.connection() as connection:
        for ref in request.tools:
            name, _, number = ref.partition("@")
            versions = await tools.list_versions(connection, name)
            match = next(
                (tool for tool in versions if not number or tool.version == int(number)), None
            )
            if match is None:
                library = await tools.list_newest_tools(connection)
                version_numbers = [tool.version for tool in versions]
                fitting = (
                    []
                    if version_numbers
                    else await asyncio.to_thread(_list_fitting_tools, chosen, library)
                )
                version = int(number) if number else None
                raise ToolUnknown(name, version, versions=version_numbers, fitting=fitting)
            chosen.append(match)
    return chosen


def _compose(chosen_tools: Sequence[Tool], bind: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the text of the workflow, or the reasons why the tools do not fit.

    Raises:
        ToolRefused: The text of a tool is not valid.
    """
    named_tools = [(tool.name, _read(tool.name, tool.cwl or "")) for tool in chosen_tools]
    return _write_workflow(
        named_tools, [f"{tool.name} {tool.version}" for tool in chosen_tools], bind
    )


def _write_workflow(
    named_tools: Sequence[tuple[str, "LibraryTool"]], labels: Sequence[str], bind: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Return the text of a workflow of the tools, or the reasons why they do not fit."""
    from sluice.cwl.composing import join_tools, workflow_text  # noqa: PLC0415 - slow to import, and only needed here

    joined = join_tools(named_tools, bind=bind)
    if joined.misfits:
        return "", joined.misfits
    labels_by_step = {step.name: label for step, label in zip(joined.steps, labels, strict=True)}
    return workflow_text(joined, labels=labels_by_step), []


def _list_fitting_tools(before: Sequence[Tool], library: Sequence[Tool]) -> list[str]:
    from sluice.cwl.composing.compose import fitting_tools  # noqa: PLC0415 - as above

    library_tools = {tool.name: _read(tool.name, tool.cwl or "") for tool in library}
    return fitting_tools(
        [(tool.name, _read(tool.name, tool.cwl or "")) for tool in before], library_tools
    )


def _read(name: str, text: str) -> "LibraryTool":
    from sluice.cwl.composing import read_tool  # noqa: PLC0415 - as above

    tool, findings = read_tool(text, file=f"{name}.cwl")
    if tool is None:
        raise ToolRefused(name, findings)
    return tool


def _describe_port(port: Any, tool: "LibraryTool") -> dict[str, Any]:
    from sluice.cwl.documents.types import short_form  # noqa: PLC0415 - as above

    return PortOfTool(
        name=port.name,
        type=short_form(port.type),
        default=port.default,
        format=port.format,
        bound=tool.bind.get(port.name),
        doc=port.doc,
    ).model_dump(mode="json")
