"""Warnings of fields of tools that have no effect, or that lack what makes them work."""

from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.types import (
    contains_files,
    is_optional,
    normal_type,
    short_form,
    type_alternatives,
)
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import NamedNode, mappings, named_nodes
from sluice.text.visible_text import quoted

_SHELL = "ShellCommandRequirement"
_KINDS = ("requirements", "hints")


def warn_of_tool_fields(workflow: CommentedMap, findings: Findings) -> None:
    """Warn of program names with blanks, file outputs without a binding, and unused quoting."""
    for name, owners in _tools(workflow):
        tool = owners[0]
        _warn_of_program(tool, name, findings)
        for output in named_nodes(tool.get("outputs")):
            _warn_of_output(output, name, findings)
        has_shell = any(
            requirement.name == _SHELL
            for owner in owners
            for kind in _KINDS
            for requirement in named_nodes(owner.get(kind), "class")
        )
        bindings = [] if has_shell else [tool.get("arguments"), tool.get("inputs")]
        for binding in (binding for node in bindings for binding in mappings(node)):
            if binding.get("shellQuote") is False:
                findings.warning(
                    text_place(binding, "shellQuote"),
                    f"'shellQuote: false' has no effect in the tool of step {quoted(name)}, which"
                    f" is not run by a shell: add '{_SHELL}: {{}}' to its requirements",
                )


def _warn_of_program(tool: CommentedMap, step: str, findings: Findings) -> None:
    """Warn of a program name with blanks.

    ``baseCommand`` is a program name, or a list that starts with one. No shell splits it.
    """
    command = tool.get("baseCommand")
    program = command[0] if isinstance(command, list) and command else command
    if isinstance(program, str) and any(letter.isspace() for letter in program.strip()):
        words = ", ".join(program.split())
        findings.warning(
            text_place(tool, "baseCommand"),
            f"the tool of step {quoted(step)} runs a program that is called {quoted(program)}, with"
            f" a blank in its name: write 'baseCommand: [{words}]' if these are a program and its"
            " arguments",
        )


def _tools(
    workflow: CommentedMap, *outer: CommentedMap
) -> Iterator[tuple[str, tuple[CommentedMap, ...]]]:
    """Yield each CommandLineTool of a workflow and of its nested workflows.

    Yields:
        The name of its step, and the tool with the steps and workflows around it, innermost first.
    """
    for step in named_nodes(workflow.get("steps")):
        run = None if step.body is None else step.body.get("run")
        if step.body is None or not isinstance(run, CommentedMap):
            continue
        if run.get("class") == "Workflow":
            yield from _tools(run, step.body, workflow, *outer)
        elif run.get("class") == "CommandLineTool":
            yield step.name, (run, step.body, workflow, *outer)


def _warn_of_output(output: NamedNode, step: str, findings: Findings) -> None:
    """Warn of an output of files without ``outputBinding``.

    Outputs of values are skipped: their tools often write ``cwl.output.json``. Records are skipped
    because their fields have their own bindings.
    """
    value = output.value if output.body is None else output.body
    kind = normal_type(value)
    is_stream = (value if output.body is None else output.body.get("type")) in (
        "stdout",
        "stderr",
    )
    if (
        is_stream
        or "outputBinding" in (output.body or ())
        or is_optional(kind)
        or not contains_files(kind)
        or _has_records(kind)
    ):
        return
    findings.warning(
        output.place,
        f"output {quoted(output.name)} of the tool of step {quoted(step)} is {short_form(kind)}"
        " without outputBinding: a job fails unless its tool writes a cwl.output.json that names"
        " it; else write 'outputBinding: {glob: NAME}'",
    )


def _has_records(kind: Any) -> bool:
    return any(
        isinstance(member, Mapping) and member.get("type") == "record"
        for member in type_alternatives(kind)
    )
