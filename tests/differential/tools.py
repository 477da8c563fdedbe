"""Tools of random templates."""

from typing import Any


def tool(
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


def on_each(command: list[str], number: int) -> dict[str, Any]:
    return tool(
        command,
        {"f": "File"},
        {"o": "stdout"},
        stdin="$(inputs.f.path)",
        stdout=f"$(inputs.f.nameroot).t{number}",
    )


def joining(name: str) -> dict[str, Any]:
    return tool(
        ["cat"],
        {"fs": "File[]"},
        {"o": "stdout"},
        arguments=["/dev/null", "$(inputs.fs)"],
        stdout=name,
    )


def shell(
    script: str, inputs: dict[str, Any], outputs: dict[str, Any], *arguments: str, **more: Any
) -> dict[str, Any]:
    return tool(["sh", "-c", script], inputs, outputs, arguments=list(arguments), **more)
