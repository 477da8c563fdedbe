"""Run cwltool and our runner in separate folders, and compare their answers."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.servers import commands

PROGRAMS = Path(sys.executable).parent

Answers = list[subprocess.CompletedProcess[str]]
Run = Callable[..., Answers]


def run_in(
    folder: Path, command: Sequence[str], arguments: Sequence[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    out = folder / command[0]
    out.mkdir()
    return commands.run(*command, *arguments, cwd=out, env=os.environ | environment)


def read_outputs(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the output object without random locations and names."""

    def remove_random_parts(value: Any) -> Any:
        match value:
            case dict():
                return {
                    key: remove_random_parts(entry)
                    for key, entry in value.items()
                    if key not in ("location", "path") and not str(entry).startswith("_:")
                }
            case list():
                return [remove_random_parts(entry) for entry in value]
        return value

    return (
        remove_random_parts(json.loads(done.stdout)) if done.stdout.startswith("{") else done.stdout
    )


def require_same_answers(
    answers: Sequence[subprocess.CompletedProcess[str]], status: int = 0
) -> Any:
    expected, actual = answers
    assert (actual.returncode, expected.returncode) == (status, status), (
        expected.stderr + actual.stderr
    )
    assert read_outputs(actual) == read_outputs(expected)
    return read_outputs(actual)


TOOL = {
    "cwlVersion": "v1.2",
    "class": "CommandLineTool",
    "inputs": {},
    "outputs": {"out": "stdout"},
    "stdout": "out.txt",
}


def make_echo_tool(*words: str, **more: Any) -> dict[str, Any]:
    return TOOL | {"baseCommand": ["echo", *words]} | more


def write_document(folder: Path, name: str, document: dict[str, Any]) -> str:
    (folder / name).write_text(json.dumps(document))
    return str(folder / name)
