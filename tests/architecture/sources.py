"""The product's source files, parsed, for tests that look at the whole tree."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from sluice.contracts.access import services

ROOT = Path(__file__).parents[2]
#: The folder of each service.
SERVICES = tuple(service.replace(".", "/") for service in services.SERVICES)
PRODUCT = ("sluice", "bench", "dms", "wms", "wfms", "pilot")
#: The tests of Sluice, and those of each pack.
TEST_FOLDERS = (
    "tests",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("templates/*/tests")),
)
#: How names of configuration files, shell scripts and packaging files end.
CONFIGURATION_ENDINGS = (
    ".conf", ".env", ".ini", ".sh", ".toml", ".yaml", ".yml", ".dockerignore", ".gitignore",
    "Dockerfile", "Makefile", ".ci/run",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A parsed file; ``name`` is its path from the repository's root."""

    name: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree. A walk through the whole product takes seconds."""
        return tuple(ast.walk(self.tree))

    def at(self, node: ast.AST) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 1)}"


@cache
def list_sources(*folders: str) -> tuple[Source, ...]:
    """Return every Python file below the folders, sorted by name.

    Tests of packs are left out, unless a folder is one of ``TEST_FOLDERS``.
    """
    return tuple(
        _parse(path)
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if folder in TEST_FOLDERS or not is_test(path)
    )


def is_test(path: Path) -> bool:
    """Return whether a path of the repository is below the tests of Sluice or of a pack."""
    return any(path.is_relative_to(ROOT / folder) for folder in TEST_FOLDERS)


@cache
def list_configuration_files() -> tuple[Path, ...]:
    """Return the configuration files, shell scripts and packaging files outside of the tests."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(
        ROOT / name
        for name in listed.stdout.splitlines()
        if name.endswith(CONFIGURATION_ENDINGS)
        and not is_test(ROOT / name)
        and (ROOT / name).is_file()
    )


@cache
def _parse(path: Path) -> Source:
    return Source(str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8")))


def list_imports(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Yield (statement, dotted name) of every import, including imports within functions."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, node.module or ""
