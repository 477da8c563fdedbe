"""House limits that no linter knows: lines per file and per function, the median file, parameters
by position.

A function takes four parameters by position, better two: what comes after them is named where it
is called. ``self`` and ``cls`` do not count, decorators change nothing: frameworks pass what they
pass by name. Only pytest's own functions are exempt, the tests and fixtures, whose parameters name
what they ask for. (How many parameters a function may have at all, seven, is a rule of ruff's.)
"""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("sluice", "wfms", "dms", "wms", "pilot", "templates", "stack", "tests", "scripts")
MAX_FILE, MEDIAN_FILE, MAX_FUNCTION, MAX_POSITIONAL = 400, 120, 60, 4

Function = ast.FunctionDef | ast.AsyncFunctionDef


def findings_of(name: str, text: str) -> Iterator[str]:
    """What breaks a limit in the file of that name."""
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield f"{name}:1: {lines} lines; a file has at most {MAX_FILE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function):
            yield from (
                f"{name}:{node.lineno}: {node.name} has {excess}" for excess in _too_much(node)
            )


def _too_much(function: Function) -> Iterator[str]:
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


def main() -> int:
    files = {
        str(path): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in sorted(Path(folder).rglob("*.py"))
    }
    found = [finding for name, text in files.items() for finding in findings_of(name, text)]
    median = statistics.median(
        lines
        for name, text in files.items()
        if not name.startswith(("tests/", "scripts/")) and (lines := text.count("\n"))
    )
    if median > MEDIAN_FILE:
        found.append(f"the median file has {median} lines; at most {MEDIAN_FILE}")
    print(
        "\n".join(found)
        if found
        else f"limits: {len(files)} files, median {median:.0f} lines, all within"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
