"""Check house limits that no linter knows.

They are lines per file and per function, the median file, and positional parameters. A function
takes at most four positional parameters, better two: callers name all others. ``self`` and ``cls``
do not count. Decorators make no difference, because frameworks pass arguments by name. Only tests
and fixtures are exempt, because pytest passes their parameters by name. (The total number of
parameters, at most seven, is a rule of ruff.)
"""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = (
    "sluice", "bench", "wfms", "dms", "wms", "pilot", "templates", "stack", "tests", "scripts",
)  # fmt: skip
MAX_FILE, MEDIAN_FILE, MAX_FUNCTION, MAX_POSITIONAL = 400, 120, 60, 4

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_excesses(name: str, text: str) -> Iterator[str]:
    """Yield the limits that a file exceeds."""
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield f"{name}:1: {lines} lines; a file has at most {MAX_FILE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function):
            yield from (
                f"{name}:{node.lineno}: {node.name} has {excess}" for excess in _list_excesses(node)
            )


def _list_excesses(function: Function) -> Iterator[str]:
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if lines > MAX_FUNCTION:
        yield f"{lines} lines; a function has at most {MAX_FUNCTION}"
    arguments = function.args
    positional = [a for a in (*arguments.posonlyargs, *arguments.args) if a.arg not in _OWN]
    if len(positional) > MAX_POSITIONAL and not _called_by_pytest(function):
        yield f"{len(positional)} parameters by position; at most {MAX_POSITIONAL}"


_OWN = {"self", "cls"}


def _called_by_pytest(function: Function) -> bool:
    return function.name.startswith("test_") or any(
        ast.unparse(decorator).startswith("pytest.fixture") for decorator in function.decorator_list
    )


def _is_left_out(name: str) -> bool:
    """Return whether the median file is found without this file: a test or a script."""
    return name.startswith("scripts/") or "tests" in Path(name).parts


def main() -> int:
    """Check all files, print the findings, and return the exit status."""
    files = {
        str(path): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in sorted(Path(folder).rglob("*.py"))
        # A generated module has the calls of one service, however many.
        if "generated" not in path.parts
    }
    findings = [finding for name, text in files.items() for finding in find_excesses(name, text)]
    median = statistics.median(
        lines
        for name, text in files.items()
        if not _is_left_out(name) and (lines := text.count("\n"))
    )
    if median > MEDIAN_FILE:
        findings.append(f"the median file has {median} lines; at most {MEDIAN_FILE}")
    print(
        "\n".join(findings)
        if findings
        else f"limits: {len(files)} files, median {median:.0f} lines, all within"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
