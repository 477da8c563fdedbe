"""Expressions that could never be worked out, found by their form alone: nothing is evaluated.

Without InlineJavascriptRequirement CWL has parameter references only, such as
``$(inputs.frame.path)``. With it or without, what a reference names must be there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.features import OF_TOOLS
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import named_nodes
from sluice.visible_text import quoted

_JAVASCRIPT = "InlineJavascriptRequirement"
#: Of an expression, or of what is kept from being one.
_BEGINNING = re.compile(r"\\.|\$[({]", re.DOTALL)
#: CWL's grammar: a name, and fields of what it stands for.
_REFERENCE = re.compile(
    r"""\$\( (?:null | (?:inputs|self|runtime)
        (?: \.\w+ | \['(?:[^'\\]|\\.)+'\] | \["(?:[^"\\]|\\.)+"\] | \[[0-9]+\] )* ) \)""",
    re.VERBOSE,
)
#: The input that a reference names.
_INPUT = re.compile(
    r"""\$\(inputs (?: \.(\w+) | \['((?:[^'\\]|\\.)+)'\] | \["((?:[^"\\]|\\.)+)"\] )""", re.VERBOSE
)
#: What is worked out in a step, and in a tool; a key of such a name is an expression wherever it
#: stands there.
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
#: What is no part of how a tool is run: values, words, other processes; and what others may have
#: said instead.
_LEFT_ASIDE = frozenset({"default", "doc", "label", "steps", "requirements", "hints"})
#: Collections whose keys, where they are mappings, are names of the author's.
_OF_NAMES = frozenset({"inputs", "outputs", "fields"})


@dataclass(frozen=True, slots=True)
class _Around:
    """What holds for an expression. ``owner``: what would have to ask for JavaScript. ``inputs``:
    of ``holder``, None where they cannot be told."""

    javascript: bool
    owner: str
    holder: str
    inputs: frozenset[str] | None


def check_expressions(
    workflow: CommentedMap, findings: Findings, *, outer: tuple[CommentedMap, ...] = ()
) -> None:
    """``outer``: the steps and workflows around the workflow, the innermost first."""
    owners = (workflow, *outer)
    for step in named_nodes(workflow.get("steps")):
        if step.body is None:
            continue
        around = _Around(_has(*owners), "workflow", f"step '{step.name}'", _names(step.body, "in"))
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
        around = _Around(
            _has(*tool), "tool", f"the tool of step '{step.name}'", _names(run, "inputs")
        )
        needs = _needs(tool) if run.get("class") == "CommandLineTool" else None
        for text, place in (*texts_of(run), *texts_of(needs)):
            _check(text, place, findings, around)


def _has(*owners: CommentedMap) -> bool:
    """A hint is not enough for the reference runner."""
    return any(
        entry.name == _JAVASCRIPT
        for owner in owners
        for entry in named_nodes(owner.get("requirements"), "class")
    )


def _needs(owners: tuple[CommentedMap, ...]) -> CommentedSeq:
    """The requirements and hints that hold for a tool: any requirement before any hint, the tool's
    before those around it."""
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
    """``named``: the keys of ``node`` are names."""
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
    """A text, or the texts in a list or (variables of the environment) in a mapping."""
    if isinstance(value, CommentedMap | CommentedSeq):
        keys = value if isinstance(value, CommentedMap) else range(len(value))
        yield from (
            (value[key], text_place(value, key)) for key in keys if isinstance(value[key], str)
        )
    else:
        yield value, place


def _check(text: Any, place: TextPlace, findings: Findings, around: _Around) -> None:
    if not isinstance(text, str):
        return
    found, beyond = references_in(text)
    for reference in found:
        name, known = input_of(reference), around.inputs
        if name is not None and known is not None and name not in known:
            hint = did_you_mean(name, known)
            findings.error(
                place, f"{quoted(reference)}: {around.holder} has no input '{name[:80]}'{hint}"
            )
    if beyond and not around.javascript:
        findings.error(
            place,
            f"{quoted(beyond)} is more than a parameter reference such as $(inputs.file.path), and"
            f" so needs JavaScript: add '{_JAVASCRIPT}: {{}}' to the requirements of the"
            f" {around.owner}",
        )


def references_in(text: str) -> tuple[list[str], str]:
    """The parameter references in a text, and the text from the first expression that is none."""
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
    """None where it names none, or ``inputs`` as a whole."""
    named = _INPUT.match(reference)
    return None if named is None else named[1] or re.sub(r"\\(.)", r"\1", named[2] or named[3])
