"""Run the workflows below a folder with stand-ins for their tools, as templates and by cwltool.

Each workflow is run with made-up inputs on a separate system. A list counts as equal if only
nulls or inner lists differ, which data sets do not have. The exit status is 1 if outputs differ, if
only one of both runs fails, or if no workflow gives equal outputs.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

from scripts.stand_ins.orders import make_order
from scripts.stand_ins.tools import replace_tools
from scripts.stand_ins.types import collect_types
from sluice.clientkit.template_files import read_template_files
from sluice.contracts.common.problems import Unprocessable
from sluice.cwl.compiler import compile_upload

_ROOT = Path(__file__).resolve().parents[2]
#: Seconds for each run of a workflow.
_LIMIT = 300


class Result(StrEnum):
    """The result of a workflow."""

    EQUAL = "equal"
    DIFFERENT = "different outputs"
    TEMPLATE_FAILED = "failed as a template only"
    CWLTOOL_FAILED = "failed by cwltool only"
    BOTH_FAILED = "failed by both"
    UNUSABLE = "no stand-ins"


_GOOD = (Result.EQUAL, Result.BOTH_FAILED, Result.UNUSABLE)


def main() -> int:
    """Run the workflows, print the results, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="the number of workflows")
    parser.add_argument("--seed", type=int, default=1, help="the choice of the workflows")
    arguments = parser.parse_args()
    with _running_system(_ROOT / "var" / "stand-ins") as environment:
        counts = _try_workflows(
            arguments.folder, environment, limit=arguments.limit, seed=arguments.seed
        )
    for result in Result:
        print(f"{result:<28}{counts[result]:5}")
    return 0 if counts[Result.EQUAL] and all(result in _GOOD for result in counts) else 1


def _try_workflows(
    folder: Path, environment: dict[str, str], *, limit: int, seed: int
) -> Counter[Result]:
    """Run workflows below a folder, print the result of each, and return their counts."""
    folder = folder.absolute()
    paths = [
        path
        for path in sorted(folder.rglob("*.cwl"))
        if "class: Workflow" in path.read_text(errors="replace")
    ]
    random.Random(seed).shuffle(paths)  # noqa: S311 - chooses documents, guards nothing
    counts = Counter[Result]()
    for path in paths:
        result, note = _try_workflow(path, environment)
        counts[result] += 1
        print(f"{result}: {path.relative_to(folder)}{note}", flush=True)
        if counts.total() - counts[Result.UNUSABLE] >= limit:
            break
    return counts


@contextmanager
def _running_system(home: Path) -> Iterator[dict[str, str]]:
    """Start a system, and yield the environment for its clients."""
    environment = os.environ | {"SLUICE_HOME": str(home), "SLUICE_PILOT_CONTAINERS": "[]"}
    sluice = [sys.executable, "-m", "sluice.cli"]
    subprocess.run([*sluice, "up", "--port", "0", "--detach"], env=environment, check=True)
    try:
        yield environment
    finally:
        subprocess.run([*sluice, "down"], env=environment, check=True)


def _try_workflow(path: Path, environment: dict[str, str]) -> tuple[Result, str]:
    """Return the result of a workflow, and a note for people."""
    result, note = Result.UNUSABLE, ""
    # Expressions between steps often fail on null, which then says nothing.
    for nulls in (True, False):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            try:
                _write_workflow(path, folder, nulls=nulls)
            except Unprocessable as refusal:
                return Result.UNUSABLE, f" ({refusal.detail})"
            except (OSError, KeyError, ValueError, TypeError, AttributeError) as error:
                return Result.UNUSABLE, f" ({type(error).__name__}: {error})"
            result, note = _compare_runs(folder, environment)
        if result is not Result.BOTH_FAILED:
            break
    return result, note


def _write_workflow(path: Path, folder: Path, *, nulls: bool) -> None:
    """Write a workflow with stand-ins, and a job order.

    Raises:
        ValueError: The document is refused, or is packed.
        KeyError: A port has an unknown type.
    """
    os.chdir(path.parent)
    upload = read_template_files([Path(path.name)]).upload
    result = compile_upload(upload, name="t")
    workflow = result.document
    if workflow is None:
        raise ValueError(str(result.compiled.errors[0]))
    if workflow.get("class") != "Workflow":
        raise ValueError("it is not a workflow alone in its file")
    workflow.pop("$schemas", None)
    types = collect_types(workflow)
    replace_tools(workflow, types, nulls=nulls)
    files = folder / "in"
    files.mkdir()
    order = make_order(workflow, types, files, nulls=nulls)
    (folder / "workflow.cwl").write_text(json.dumps(workflow))
    (folder / "order.json").write_text(json.dumps(order))


def _compare_runs(folder: Path, environment: dict[str, str]) -> tuple[Result, str]:
    cwltool = [str(Path(sys.executable).with_name("cwltool")), "--quiet"]
    template = [sys.executable, str(_ROOT / "scripts" / "run_as_template.py")]
    expected, actual = (_run(command, folder, environment) for command in (cwltool, template))
    if isinstance(expected, str) or isinstance(actual, str):
        if isinstance(expected, str) and isinstance(actual, str):
            return Result.BOTH_FAILED, ""
        if isinstance(actual, str):
            return Result.TEMPLATE_FAILED, f"\n  {actual}"
        return Result.CWLTOOL_FAILED, f"\n  {expected}"
    for name in sorted({*expected, *actual}):
        values = [_comparable(outputs.get(name)) for outputs in (expected, actual)]
        if values[0] != values[1]:
            texts = " instead of ".join(json.dumps(value)[:300] for value in reversed(values))
            return Result.DIFFERENT, f"\n  {name}: {texts}"
    return Result.EQUAL, ""


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> dict[str, Any] | str:
    """Return the outputs, or the last line of the error."""
    outdir = Path(tempfile.mkdtemp(dir=folder))
    arguments = [*command, "--outdir", str(outdir), "workflow.cwl", "order.json"]
    try:
        process = subprocess.run(
            arguments,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {_LIMIT} s"
    if process.returncode:
        return (process.stderr.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
    outputs: dict[str, Any] = json.loads(process.stdout)
    return outputs


def _comparable(value: Any) -> Any:
    """Return a value without places, nulls in lists and inner lists."""
    match value:
        case {"class": "File" | "Directory"}:
            fields = {key: value.get(key) for key in ("class", "basename", "checksum")}
            parts = [*value.get("secondaryFiles", ()), *value.get("listing", ())]
            return fields | {"parts": sorted(map(_comparable, parts), key=json.dumps)}
        case dict():
            return {key: _comparable(inner) for key, inner in value.items()}
        case list():
            return list(_flatten(value)) or None
    return value


def _flatten(items: list[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            yield from _flatten(item)
        elif item is not None:
            yield _comparable(item)


if __name__ == "__main__":
    sys.exit(main())
