"""House limits that no linter knows: lines per file and per function, the median file, parameters
after the second by keyword."""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("sluice", "wfms", "dms", "wms", "pilot", "templates", "stack", "tests", "scripts")
MAX_FILE, MEDIAN_FILE, MAX_FUNCTION, MAX_POSITIONAL = 560, 120, 80, 4


def findings_of(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield f"{path}:1: {lines} lines; a file has at most {MAX_FILE}"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if length > MAX_FUNCTION:
            yield (
                f"{path}:{node.lineno}: {node.name} has {length} lines; a function has at most"
                f" {MAX_FUNCTION}"
            )
        positional = [
            a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in {"self", "cls"}
        ]
        is_test = path.parts[0] == "tests" or any(
            isinstance(d, ast.Call) for d in node.decorator_list
        )
        if len(positional) > MAX_POSITIONAL and not is_test:
            yield (
                f"{path}:{node.lineno}: {node.name} has {len(positional)} positional parameters; at"
                f" most {MAX_POSITIONAL}"
            )


def main() -> int:
    files = [path for folder in FOLDERS for path in sorted(Path(folder).rglob("*.py"))]
    found = [finding for path in files for finding in findings_of(path)]
    product = [
        path.read_text(encoding="utf-8").count("\n")
        for path in files
        if path.parts[0] not in {"tests", "scripts"}
    ]
    median = statistics.median([lines for lines in product if lines])
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
