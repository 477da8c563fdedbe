"""Tools of random templates."""

import sys
from typing import Any


def make_tool(
    command: list[str], inputs: dict[str, Any], outputs: dict[str, Any], **more: Any
) -> dict[str, Any]:
    requirements = {"ToolTimeLimit": {"timelimit": 60}, "InlineJavascriptRequirement": {}}
    return {
        "class": "CommandLineTool",
        "baseCommand": command,
        "requirements": requirements,
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


def map_tool(command: list[str], number: int) -> dict[str, Any]:
    return make_tool(
        command,
        {"f": "File"},
        {"o": "stdout"},
        stdin="$(inputs.f.path)",
        stdout=f"$(inputs.f.nameroot).t{number}",
    )


def join_tool(name: str) -> dict[str, Any]:
    return make_tool(
        ["cat"],
        {"fs": "File[]"},
        {"o": "stdout"},
        arguments=["/dev/null", "$(inputs.fs)"],
        stdout=name,
    )


def make_shell_tool(
    script: str, inputs: dict[str, Any], outputs: dict[str, Any], *arguments: str, **more: Any
) -> dict[str, Any]:
    return make_tool(["sh", "-c", script], inputs, outputs, arguments=list(arguments), **more)


_KEEPS_WORD = """
import os
from sluice.warm import once, serve
@once
def load(word):
    return word
def main(arguments):
    left = os.listdir(".") + os.listdir(os.environ["TMPDIR"])
    open("left", "w").close()
    with open(arguments[1]) as file:
        print(load(arguments[0]), "left" in left, file.read(), end="")
serve(main)
"""


def make_word_keeping_tool(number: int) -> dict[str, Any]:
    """Return a tool that may be a warm worker and that keeps its first word."""
    return make_tool(
        [sys.executable, "-c", _KEEPS_WORD],
        {"f": "File", "word": "string"},
        {"o": "stdout"},
        arguments=["$(inputs.word)", "$(inputs.f)"],
        stdout=f"$(inputs.f.nameroot).t{number}",
    )
