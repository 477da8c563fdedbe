"""Expressions that could never be worked out, found by their form alone: nothing is evaluated.

Without InlineJavascriptRequirement CWL has parameter references only, such as ``$(inputs.frame.path)``.
"""

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.findings import Findings, Place, place_of
from sluice.cwl.tree import entries

_JAVASCRIPT = "InlineJavascriptRequirement"
#: Of an expression, or of what is kept from being one.
_BEGINNING = re.compile(r"\\.|\$[({]", re.DOTALL)
#: CWL's grammar: a name, and fields of what it stands for.
_REFERENCE = re.compile(
    r"""\$\( (?:null | (?:inputs|self|runtime) (?: \.\w+ | \['(?:[^'\\]|\\.)+'\] | \["(?:[^"\\]|\\.)+"\] | \[[0-9]+\] )* ) \)""",
    re.VERBOSE,
)
#: What is worked out in a step, and in a tool; a key of such a name is an expression wherever it stands there.
_OF_STEPS = frozenset({"valueFrom", "when"})
_OF_TOOLS = frozenset(
    {
        *("arguments", "valueFrom", "glob", "outputEval", "stdin", "stdout", "stderr", "secondaryFiles", "pattern", "expression"),
        *("listing", "entry", "entryname", "envDef", "envValue", "timelimit"),
        *(f"{what}{bound}" for what in ("cores", "ram", "tmpdir", "outdir") for bound in ("Min", "Max")),
    }
)
#: What is no part of how a tool is run: values, words, other processes, hints.
_LEFT_ASIDE = frozenset({"default", "doc", "label", "steps", "hints"})


def check_expressions(workflow: CommentedMap, findings: Findings, *, javascript: bool = False) -> None:
    """``javascript``: what is around the workflow has it."""
    inside = javascript or _has(workflow)
    for step in entries(workflow.get("steps")):
        if step.body is None:
            continue
        for link in (step.body, *(link.body for link in entries(step.body.get("in")) if link.body is not None)):
            for key in _OF_STEPS & link.keys():
                _check(link[key], place_of(link, key), findings, javascript=inside, owner="workflow")
        run, within = step.body.get("run"), inside or _has(step.body)
        if not isinstance(run, CommentedMap):
            continue
        if run.get("class") == "Workflow":
            check_expressions(run, findings, javascript=within)
            continue
        for text, place in _texts(run):
            _check(text, place, findings, javascript=within or _has(run), owner="tool")


def _has(owner: CommentedMap) -> bool:
    """A hint is not enough for the reference runner."""
    return any(entry.name == _JAVASCRIPT for entry in entries(owner.get("requirements"), "class"))


def _texts(node: Any) -> Iterator[tuple[Any, Place]]:
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            if key in _OF_TOOLS:
                yield from _values(value, place_of(node, key))
            if key not in _LEFT_ASIDE:
                yield from _texts(value)
    elif isinstance(node, CommentedSeq):
        for item in node:
            yield from _texts(item)


def _values(value: Any, place: Place) -> Iterator[tuple[Any, Place]]:
    """A text, or the texts in a list or (variables of the environment) in a mapping."""
    if isinstance(value, CommentedMap | CommentedSeq):
        keys = value if isinstance(value, CommentedMap) else range(len(value))
        yield from ((value[key], place_of(value, key)) for key in keys if isinstance(value[key], str))
    else:
        yield value, place


def _check(text: Any, place: Place, findings: Findings, *, javascript: bool, owner: str) -> None:
    beyond = None if javascript or not isinstance(text, str) else _beyond_references(text)
    if beyond is not None:
        findings.error(
            place,
            f"{beyond[:120]!r} is more than a parameter reference such as $(inputs.file.path), and so needs JavaScript: add "
            f"'{_JAVASCRIPT}: {{}}' to the requirements of the {owner}",
        )


def _beyond_references(text: str) -> str | None:
    """The text from its first expression on that is no parameter reference."""
    at = 0
    while found := _BEGINNING.search(text, at):
        at = found.end()
        if found[0].startswith("\\"):
            continue
        reference = _REFERENCE.match(text, found.start())
        if reference is None:
            return text[found.start() :]
        at = reference.end()
    return None
