"""Statements, rows and the driver's errors stay in the ``db/`` folder of a service."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import SERVICES, Source, list_imports, list_sources

#: Methods of a connection that take a statement.
STATEMENTS = {"execute", "executemany", "fetch", "fetchrow", "fetchval", "cursor"}


def find_leaks(source: Source) -> Iterator[str]:
    return find_returned_rows(source) if "/db/" in source.name else find_database_use(source)


def find_returned_rows(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) and node.returns is not None:
            rows = "Record" in ast.unparse(node.returns)
            if rows and not node.name.startswith("_"):
                yield f"{source.at(node)}: {node.name}() gives rows as they are"


def find_database_use(source: Source) -> Iterator[str]:
    for node, module in list_imports(source):
        if module.partition(".")[0] == "asyncpg":
            yield f"{source.at(node)}: imports asyncpg"
    for call in source.nodes:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            of_connection = "connection" in ast.unparse(call.func.value)
            if of_connection and call.func.attr in STATEMENTS:
                yield f"{source.at(call)}: makes a statement"


def test_only_db_folders_use_the_database_driver() -> None:
    files = list_sources(*SERVICES)
    assert any("/db/" in source.name for source in files), "the db/ folders were not found"
    assert not [leak for source in files for leak in find_leaks(source)]


def test_database_use_outside_of_db_folder_is_found() -> None:
    outside = (
        "import asyncpg\nasync def f(transaction):\n    await transaction.connection.fetch('…')\n"
    )
    assert list(find_leaks(Source("dms/usecases/x.py", ast.parse(outside)))) == [
        "dms/usecases/x.py:1: imports asyncpg",
        "dms/usecases/x.py:3: makes a statement",
    ]
    inside = "async def f(c) -> 'list[asyncpg.Record]':\n    return await c.fetch('…')\n"
    assert list(find_leaks(Source("dms/db/x.py", ast.parse(inside)))) == [
        "dms/db/x.py:1: f() gives rows as they are"
    ]
