"""Composition of a workflow from tools of the library. The result is a template like any other."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import uuid4

import structlog

from sluice.contracts.templates.tools import ComposeTools, Composition, Tool
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import tools
from wfms.operator.templates.domain.errors import IncompatibleTools, ToolUnknown
from wfms.operator.templates.domain.submitted_files import UNNAMED, SubmittedFiles
from wfms.operator.templates.usecases.store_template import store_template
from wfms.operator.templates.usecases.tools.tool_workflow import parse_tool, write_workflow

log = structlog.get_logger(__name__)


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
    named_tools = [(tool.name, parse_tool(tool.name, tool.cwl or "")) for tool in chosen_tools]
    return write_workflow(
        named_tools, [f"{tool.name} {tool.version}" for tool in chosen_tools], bind
    )


def _list_fitting_tools(before: Sequence[Tool], library: Sequence[Tool]) -> list[str]:
    from sluice.cwl.composing.compose import fitting_tools  # noqa: PLC0415 - slow to import, and only needed here

    library_tools = {tool.name: parse_tool(tool.name, tool.cwl or "") for tool in library}
    return fitting_tools(
        [(tool.name, parse_tool(tool.name, tool.cwl or "")) for tool in before], library_tools
    )
