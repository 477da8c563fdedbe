"""Check the text of a tool."""

import asyncio
from dataclasses import replace

from sluice.contracts.common.problems import Finding
from wfms.operator.templates.domain.errors import ToolRefused
from wfms.operator.templates.domain.submitted_files import UNNAMED, SubmittedFiles
from wfms.operator.templates.usecases.compile_files import Compiler
from wfms.operator.templates.usecases.tools.tool_workflow import parse_tool, write_workflow


async def check_tool_text(compiler: Compiler, name: str, text: str) -> list[Finding]:
    """Compile a workflow of this tool alone and return the findings.

    Inputs that other tools would provide are replaced by assets.

    Raises:
        ToolRefused: The text is no tool that can run alone.
    """
    tool = await asyncio.to_thread(parse_tool, name, text)
    files = [port.name for port in tool.inputs.values() if port.item is not None]
    others = [port for port in files if port not in tool.bind][1:]
    alone = replace(tool, bind={**dict.fromkeys(others, "asset:any"), **tool.bind})
    workflow, misfits = await asyncio.to_thread(write_workflow, [(name, alone)], [name], {})
    if misfits:
        raise ToolRefused(name, [Finding(message=misfit) for misfit in misfits])
    checked = await compiler.compile(
        await compiler.take(SubmittedFiles({UNNAMED: workflow})), name=name
    )
    return [
        Finding(message=finding.message, severity=finding.severity) for finding in checked.findings
    ]
