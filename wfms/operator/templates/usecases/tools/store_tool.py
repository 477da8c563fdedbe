"""Store a version of a tool."""

from collections.abc import Sequence

import structlog

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.tools import NewTool, StoredTool, Tool
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import take_or_require_name
from wfms.operator.templates.db import tools
from wfms.operator.templates.domain.errors import ToolRefused
from wfms.operator.templates.usecases.tools.check_tool_text import check_tool_text
from wfms.operator.templates.usecases.tools.describe_tool import describe_tool

log = structlog.get_logger(__name__)


async def store_tool(context: OperatorContext, new: NewTool) -> StoredTool:
    """Store a new version of a tool unless its newest version has exactly this text.

    The tool is checked by the compilation of a workflow that contains only this tool.

    Raises:
        ToolRefused: The tool has errors; the exception lists all findings.
        NameOwnedByOthers: The name belongs to somebody else.
    """
    async with context.database.connection() as connection:
        present = _newest_if_same(await tools.list_versions(connection, new.name), new.cwl)
    if present is not None:
        return StoredTool(tool=present, new=False)
    description = await describe_tool(new.name, new.cwl)
    warnings = await _check(context, new)
    async with context.database.transaction() as transaction:
        await tools.lock_tool(transaction.connection, new.name)
        present = _newest_if_same(
            await tools.list_versions(transaction.connection, new.name), new.cwl
        )
        if present is not None:
            return StoredTool(tool=present, new=False)
        await take_or_require_name(
            transaction.connection,
            NamedKind.TOOL,
            new.name,
            new=not await tools.was_stored(transaction.connection, new.name),
            group=new.group,
        )
        stored = await tools.insert_tool(
            transaction.connection, new.name, new.cwl, ports=description.ports, doc=description.doc
        )
    log.info("tool.stored", tool=stored.name, version=stored.version)
    return StoredTool(tool=stored, new=True, warnings=warnings)


def _newest_if_same(versions: Sequence[Tool], text: str) -> Tool | None:
    newest_tool = versions[0] if versions else None
    return newest_tool if newest_tool is not None and newest_tool.cwl == text else None


async def _check(context: OperatorContext, new: NewTool) -> list[Finding]:
    """Return the warnings about the tool.

    Raises:
        ToolRefused: The tool has errors.
    """
    findings = await check_tool_text(context.compiler, new.name, new.cwl)
    if any(finding.severity == "error" for finding in findings):
        raise ToolRefused(new.name, findings)
    return findings
