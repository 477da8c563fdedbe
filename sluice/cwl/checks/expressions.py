"""Checks of the syntax of expressions. No expression is evaluated.

Without InlineJavascriptRequirement CWL has parameter references only, such as
``$(inputs.frame.path)``. In both cases the input that a reference names must exist.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.features import TOOL_REQUIREMENTS
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import named_nodes
from sluice.text.visible_text import quoted

#: Brackets and quoted texts in an expression. A quoted text without an end goes to the end.
_PUNCTUATION = re.compile(r"""[(){}]|'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)""", re.DOTALL)
#: The end of an expression by its beginning.
_CLOSING = {"$(": ")", "${": "}"}
_JAVASCRIPT = "InlineJavascriptRequirement"
#: The start of an expression, or an escaped character.
_EXPRESSION_START = re.compile(r"\\.|\$[({]", re.DOTALL)
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
_STEP_FIELDS = frozenset({"valueFrom", "when"})
_TOOL_FIELDS = frozenset(
    {
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
        "listing",
        "entry",
        "entryname",
        "envDef",
        "envValue",
        "timelimit",
        "networkAccess",
        "enableReuse",
        "position",
        "required",
        *(
            f"{resource}{limit}"
            for resource in ("cores", "ram", "tmpdir", "outdir")
            for limit in ("Min", "Max")
        ),
    }
)
#: Keys to skip: values, texts, other processes, and requirements, which are collected separately.
_SKIPPED_FIELDS = frozenset({"default", "doc", "label", "steps", "requirements", "hints"})
#: Collections whose keys, in a mapping, are names that the author chose.
_NAMED_COLLECTIONS = frozenset({"inputs", "outputs", "fields"})


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
    """Warn of references to unknown inputs, and of JavaScript that is not enabled.

    The reference runner reports them when it runs a job.

    Args:
        workflow: The workflow to check.
        findings: Gets the warnings.
        outer: The steps and workflows around the workflow, the innermost first.
    """
    owners = (workflow, *outer)
    for step in named_nodes(workflow.get("steps")):
        if step.body is None:
            continue
        context = _ExpressionContext(
            _requires_javascript(*owners),
            "workflow",
            f"step {quoted(step.name)}",
            _input_names(step.body, "in"),
        )
        for link in (
            step.body,
            *(link.body for link in named_nodes(step.body.get("in")) if link.body is not None),
        ):
            for key in _STEP_FIELDS & link.keys():
                _check_expression(link[key], text_place(link, key), findings, context)
        run = step.body.get("run")
        if not isinstance(run, CommentedMap):
            continue
        if run.get("class") == "Workflow":
            check_expressions(run, findings, outer=(step.body, *owners))
            continue
        tool = (run, step.body, *owners)
        context = _ExpressionContext(
            _requires_javascript(*tool),
            "tool",
            f"the tool of step {quoted(step.name)}",
            _input_names(run, "inputs"),
        )
        requirements = _tool_requirements(tool) if run.get("class") == "CommandLineTool" else None
        for text, place in (*expression_values(run), *expression_values(requirements)):
            _check_expression(text, place, findings, context)


def _requires_javascript(*owners: CommentedMap) -> bool:
    """Return whether JavaScript is required. The reference runner ignores it as a hint."""
    return any(
        entry.name == _JAVASCRIPT
        for owner in owners
        for entry in named_nodes(owner.get("requirements"), "class")
    )


def _tool_requirements(owners: tuple[CommentedMap, ...]) -> CommentedSeq:
    """Return the requirements and hints that apply to a tool.

    Requirements come before hints. Those of the tool come before those of the processes around it.
    """
    requirements: dict[str, CommentedMap | None] = {}
    for kind in ("requirements", "hints"):
        for owner in owners:
            for entry in named_nodes(owner.get(kind), "class"):
                if kind == "requirements" or entry.name in TOOL_REQUIREMENTS:
                    requirements.setdefault(entry.name, entry.body)
    return CommentedSeq(requirements.values())


def _input_names(owner: CommentedMap, key: str) -> frozenset[str] | None:
    collection = owner.get(key)
    return (
        frozenset(entry.name for entry in named_nodes(collection))
        if isinstance(collection, CommentedMap | CommentedSeq)
        else None
    )


def expression_values(
    node: Any, *, keys_are_names: bool = False
) -> Iterator[tuple[Any, TextPlace]]:
    """Yield each value of a tool that may be an expression, with its place.

    Args:
        node: A part of the tool.
        keys_are_names: Whether the keys of ``node`` are names that the author chose.
    """
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            if key in _TOOL_FIELDS and not keys_are_names:
                yield from _string_values(value, text_place(node, key))
            if key not in _SKIPPED_FIELDS or keys_are_names:
                yield from expression_values(
                    value, keys_are_names=key in _NAMED_COLLECTIONS and not keys_are_names
                )
    elif isinstance(node, CommentedSeq):
        for item in node:
            yield from expression_values(item)


def _string_values(value: Any, place: TextPlace) -> Iterator[tuple[Any, TextPlace]]:
    """Yield a text, or the texts in a list or in a mapping of environment variables."""
    if isinstance(value, CommentedMap | CommentedSeq):
        keys = value if isinstance(value, CommentedMap) else range(len(value))
        yield from (
            (value[key], text_place(value, key)) for key in keys if isinstance(value[key], str)
        )
    else:
        yield value, place


def _check_expression(
    text: Any, place: TextPlace, findings: Findings, context: _ExpressionContext
) -> None:
    if not isinstance(text, str) or findings.is_crowded:
        return
    references, rest = references_in(text)
    for reference in references:
        name, input_names = referenced_input(reference), context.inputs
        if name is not None and input_names is not None and name not in input_names:
            hint = suggest_or_list(name, input_names)
            findings.warning(
                place, f"{quoted(reference)}: {context.holder} has no input {quoted(name)}{hint}"
            )
    if rest and _is_unfinished(rest):
        findings.warning(
            place,
            f"the expression {quoted(rest)} has no end, so that its jobs will fail: close it with"
            f" {quoted(_CLOSING[rest[:2]])}",
        )
    elif rest and not context.javascript:
        findings.warning(
            place,
            f"{quoted(rest)} is more than a parameter reference such as $(inputs.file.path), and"
            f" so needs JavaScript: add '{_JAVASCRIPT}: {{}}' to the requirements of the"
            f" {context.owner}",
        )


def _is_unfinished(text: str) -> bool:
    """Return whether the expression at the beginning of a text has no end.

    As in cwltool, brackets in quotes do not count, and other kinds of brackets neither.
    """
    opening, closing = text[1], _CLOSING[text[:2]]
    depth = 0
    for part in _PUNCTUATION.finditer(text, 1):
        depth += (part[0] == opening) - (part[0] == closing)
        if depth == 0:
            return False
    return True


def references_in(text: str) -> tuple[list[str], str]:
    """Return the parameter references in a text, and the rest from the first other expression."""
    references: list[str] = []
    position = 0
    while start := _EXPRESSION_START.search(text, position):
        position = start.end()
        if start[0].startswith("\\"):
            continue
        reference = _REFERENCE.match(text, start.start())
        if reference is None:
            return references, text[start.start() :]
        references.append(reference[0])
        position = reference.end()
    return references, ""


def referenced_input(reference: str) -> str | None:
    """Return the input that a reference names, or None if it names no input or all of them."""
    match = _INPUT.match(reference)
    return None if match is None else match[1] or re.sub(r"\\(.)", r"\1", match[2] or match[3])
