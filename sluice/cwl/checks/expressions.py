"""Checks of the syntax of expressions. No expression is evaluated.

Without InlineJavascriptRequirement CWL has parameter references only, such as
``$(inputs.frame.path)``. In both cases the input that a reference names must exist.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.features import OF_TOOLS
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import named_nodes
from sluice.text.visible_text import quoted

_JAVASCRIPT = "InlineJavascriptRequirement"
#: The start of an expression, or an escaped character.
_BEGINNING = re.compile(r"\\.|\$[({]", re.DOTALL)
#: A parameter reference of the CWL grammar: a name, and fields of its value.
_REFERENCE = re.compile(
    r"""\$\( (?:null | (?:inputs|self|runtime)
        (?: \.\w+ | \['(?:[^'\\]|\\.)+'\] | \["(?:[^"\\]|\\.)+"\] | \[[0-9]+\] )* ) \)""",
    re.VERBOSE,
)
#: A parameter reference to an input, with the name of the input.
_INPUT = re.compile(
    r"""\$\(inputs (?: \.(\w+) | \['((?:[^'\\]|\\.)+)'\] | \["((?:[^"\\]|\\.)+)"\] )""", re.VERBOSE
)
#: Keys whose values may be expressions, in a step and anywhere in a tool.
_OF_STEPS = frozenset({"valueFrom", "when"})
_OF_TOOLS = frozenset(
    {
        *(
            "arguments",
            "valueFrom",
            "glob",
            "outputEval",
            "stdin",
            "stdout",
            "stderr",
            "secondaryFiles",
            "pattern",
            "expression",
        ),
        *(
            "listing",
            "entry",
            "entryname",
            "envDef",
            "envValue",
            "timelimit",
            "networkAccess",
            "enableReuse",
        ),
        *("position", "required"),
        *(
            f"{resource}{bound}"
            for resource in ("cores", "ram", "tmpdir", "outdir")
            for bound in ("Min", "Max")
        ),
    }
)
#: Keys to skip: values, texts, other processes, and requirements, which are collected separately.
_LEFT_ASIDE = frozenset({"default", "doc", "label", "steps", "requirements", "hints"})
#: Collections whose keys, in a mapping, are names that the author chose.
_OF_NAMES = frozenset({"inputs", "outputs", "fields"})


@dataclass(frozen=True, slots=True)
class _ExpressionContext:
    """The context of an expression.

    Attributes:
        javascript: Whether InlineJavascriptRequirement applies.
        owner: The kind of process that would have to require JavaScript.
        holder: The step or tool in words.
        inputs: The names of the inputs, or None if they are unknown.
    """

    javascript: bool
    owner: str
    holder: str
    inputs: frozenset[str] | None


def check_expressions(
    workflow: CommentedMap, findings: Findings, *, outer: tuple[CommentedMap, ...] = ()
) -> None:
    """Report references to unknown inputs, and JavaScript that is not enabled.

    Args:
        workflow: The workflow to check.
        findings: Gets the errors.
        outer: The steps and workflows around the workflow, the innermost first.
    """
    owners = (workflow, *outer)
    for step in named_nodes(workflow.get("steps")):
        if step.body is None:
            continue
        around = _ExpressionContext(
            _has(*owners), "workflow", f"step {quoted(step.name)}", _names(step.body, "in")
        )
        for link in (
            step.body,
            *(link.body for link in named_nodes(step.body.get("in")) if link.body is not None),
        ):
            for key in _OF_STEPS & link.keys():
                _check(link[key], text_place(link, key), findings, around)
        run = step.body.get("run")
        if not isinstance(run, CommentedMap):
            continue
        if run.get("class") == "Workflow":
            check_expressions(run, findings, outer=(step.body, *owners))
            continue
        tool = (run, step.body, *owners)
        around = _ExpressionContext(
            _has(*tool), "tool", f"the tool of step {quoted(step.name)}", _names(run, "inputs")
        )
        needs = _needs(tool) if run.get("class") == "CommandLineTool" else None
        for text, place in (*texts_of(run), *texts_of(needs)):
            _check(text, place, findings, around)


def _has(*owners: CommentedMap) -> bool:
    """Return whether JavaScript is required. The reference runner ignores it as a hint."""
    return any(
        entry.name == _JAVASCRIPT
        for owner in owners
        for entry in named_nodes(owner.get("requirements"), "class")
    )


def _needs(owners: tuple[CommentedMap, ...]) -> CommentedSeq:
    """Return the requirements and hints that apply to a tool.

    Requirements come before hints. The tool's own come before those of the processes around it.
    """
    held: dict[str, CommentedMap | None] = {}
    for kind in ("requirements", "hints"):
        for owner in owners:
            for entry in named_nodes(owner.get(kind), "class"):
                if kind == "requirements" or entry.name in OF_TOOLS:
                    held.setdefault(entry.name, entry.body)
    return CommentedSeq(held.values())


def _names(owner: CommentedMap, key: str) -> frozenset[str] | None:
    found = owner.get(key)
    return (
        frozenset(entry.name for entry in named_nodes(found))
        if isinstance(found, CommentedMap | CommentedSeq)
        else None
    )


def texts_of(node: Any, *, named: bool = False) -> Iterator[tuple[Any, TextPlace]]:
    """Yield each value of a tool that may be an expression, with its place.

    Args:
        node: A part of the tool.
        named: Whether the keys of ``node`` are names.
    """
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            if key in _OF_TOOLS and not named:
                yield from _values(value, text_place(node, key))
            if key not in _LEFT_ASIDE or named:
                yield from texts_of(value, named=key in _OF_NAMES and not named)
    elif isinstance(node, CommentedSeq):
        for item in node:
            yield from texts_of(item)


def _values(value: Any, place: TextPlace) -> Iterator[tuple[Any, TextPlace]]:
    """Yield a text, or the texts in a list or in a mapping of environment variables."""
    if isinstance(value, CommentedMap | CommentedSeq):
        keys = value if isinstance(value, CommentedMap) else range(len(value))
        yield from (
            (value[key], text_place(value, key)) for key in keys if isinstance(value[key], str)
        )
    else:
        yield value, place


def _check(text: Any, place: TextPlace, findings: Findings, around: _ExpressionContext) -> None:
    if not isinstance(text, str):
        return
    found, beyond = references_in(text)
    for reference in found:
        name, known = input_of(reference), around.inputs
        if name is not None and known is not None and name not in known:
            hint = did_you_mean(name, known)
            findings.error(
                place, f"{quoted(reference)}: {around.holder} has no input {quoted(name)}{hint}"
            )
    if beyond and not around.javascript:
        findings.error(
            place,
            f"{quoted(beyond)} is more than a parameter reference such as $(inputs.file.path), and"
            f" so needs JavaScript: add '{_JAVASCRIPT}: {{}}' to the requirements of the"
            f" {around.owner}",
        )


def references_in(text: str) -> tuple[list[str], str]:
    """Return the parameter references in a text, and the rest from the first other expression."""
    found: list[str] = []
    at = 0
    while beginning := _BEGINNING.search(text, at):
        at = beginning.end()
        if beginning[0].startswith("\\"):
            continue
        reference = _REFERENCE.match(text, beginning.start())
        if reference is None:
            return found, text[beginning.start() :]
        found.append(reference[0])
        at = reference.end()
    return found, ""


def input_of(reference: str) -> str | None:
    """Return the input that a reference names, or None if it names no input or all of them."""
    named = _INPUT.match(reference)
    return None if named is None else named[1] or re.sub(r"\\(.)", r"\1", named[2] or named[3])
