"""Stores a tool, or the next version of one; removes them."""

from collections.abc import Sequence

import structlog

from sluice.contracts.problems import Finding
from sluice.contracts.tools import NewTool, StoredTool, Tool
from sluice.servicekit.database import Database
from wfms.operator.db import tools
from wfms.operator.db.name_owners import NamedKind
from wfms.operator.domain.errors import ToolRefused, ToolUnknown
from wfms.operator.usecases.compose_tools import checked_text, described
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.name_owners import require_name, take_or_require_name

log = structlog.get_logger(__name__)


async def store_tool(context: OperatorContext, new: NewTool) -> StoredTool:
    """Precondition: none. Effect: a new version, unless the newest has this very text. What is
    wrong with it is found by compiling a workflow of it alone. Messages: none. Raises
    ``ToolRefused`` with every finding, ``NameOfOthers``; nothing is stored then.
    """
    async with context.database.connection() as connection:
        present = _same(await tools.versions_of(connection, new.name), new.cwl)
    if present is not None:
        return StoredTool(tool=present, new=False)
    found = await described(new.name, new.cwl)
    warnings = await _checked(context, new)
    async with context.database.transaction() as transaction:
        await tools.lock_tool(transaction.connection, new.name)
        present = _same(await tools.versions_of(transaction.connection, new.name), new.cwl)
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
            transaction.connection, new.name, new.cwl, ports=found.ports, doc=found.doc
        )
    log.info("tool.stored", tool=stored.name, version=stored.version)
    return StoredTool(tool=stored, new=True, warnings=warnings)


async def remove_tool(database: Database, name: str, *, version: int | None = None) -> None:
    """``version`` None: all. Precondition: none. Effect: nothing is composed of it any more;
    templates that were composed of it have their own text of it. Messages: none. Raises
    ``ToolUnknown``, ``NameOfOthers``.
    """
    async with database.transaction() as transaction:
        await tools.lock_tool(transaction.connection, name)
        await require_name(transaction.connection, NamedKind.TOOL, name)
        removed = await tools.mark_removed(transaction.connection, name, version=version)
    if not removed:
        raise ToolUnknown(name, version)
    log.info("tool.removed", tool=name, versions=removed)


def _same(versions: Sequence[Tool], text: str) -> Tool | None:
    newest = versions[0] if versions else None
    return newest if newest is not None and newest.cwl == text else None


async def _checked(context: OperatorContext, new: NewTool) -> list[Finding]:
    """Warnings about the tool. A tool that cannot stand alone (it takes what only another one
    gives) is compiled with what it lacks as files. Raises ``ToolRefused``.
    """
    findings = await checked_text(context.compiler, new.name, new.cwl)
    if any(finding.severity == "error" for finding in findings):
        raise ToolRefused(new.name, findings)
    return findings
