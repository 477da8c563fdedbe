"""SQL constants are private, unless another module imports them."""

import ast
import re
from collections.abc import Iterator, Sequence

import pytest

from tests.architecture.sources import TEST_FOLDERS, Source, list_sources

_SQL = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\s")


def list_public_sql(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the assignments of public SQL constants of a module with their names."""
    for node in source.tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if name.isupper() and not name.startswith("_") and _contains_sql(value):
                yield node, name


def list_imported_names(files: Sequence[Source]) -> set[tuple[str, str]]:
    """Return (module, name) of everything that the files import from a module, or read from it."""
    imported: set[tuple[str, str]] = set()
    for source in files:
        modules: dict[str, str] = {}
        for node in source.nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    imported.add((node.module, alias.name))
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in source.nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in modules:
                    imported.add((modules[name], attribute))
    return imported


def _contains_sql(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and _SQL.search(node.value)
        for node in ast.walk(value)
    )


def test_public_sql_constants_are_imported_by_another_module() -> None:
    services = list_sources("dms", "wms", "wfms")
    statements = [
        (source, node, name)
        for source in services
        if "/db/" in source.name
        for node, name in list_public_sql(source)
    ]
    assert len(statements) > 20, "the statements were not found"
    imported = list_imported_names([*services, *list_sources("sluice", "bench", *TEST_FOLDERS)])
    findings = [
        f"{source.at(node)}: {name}"
        for source, node, name in statements
        if (source.name.removesuffix(".py").replace("/", "."), name) not in imported
    ]
    assert not findings, "\n".join(["only its module uses it: begin its name with _", *findings])


@pytest.mark.parametrize(
    "text",
    [
        'COUNT_ROWS = "SELECT count(*) FROM rows"',
        'COUNT_ROWS: str = statement(f"UPDATE rows SET state = {_STATE}")',
        'ROWS = {"a": "DELETE FROM rows WHERE a"}',
    ],
)
def test_public_sql_constants_are_found(text: str) -> None:
    assert list(list_public_sql(Source("x.py", ast.parse(text))))


@pytest.mark.parametrize(
    "text", ['_COUNT = "SELECT count(*) FROM rows"', 'LABEL = "rows"', "MAX_ROWS = 3"]
)
def test_other_constants_are_not_taken_for_public_sql(text: str) -> None:
    assert not list(list_public_sql(Source("x.py", ast.parse(text))))
