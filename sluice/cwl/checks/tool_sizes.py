"""How much the jobs' tools come to: what the workflow and its steps require is part of each tool
that it holds for, so that a short text can stand for a long plan."""

from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.findings import Findings
from sluice.cwl.reading.nodes import named_nodes
from sluice.cwl.reading.yaml_text import MOST_NODES

#: Values in all tools together: with 100 for a step, five times as many as there is room for steps.
MOST_VALUES = 4 * MOST_NODES
#: Characters in all tools together. The plan is read whenever one of its steps starts.
MOST_CHARACTERS = 8 * 1024 * 1024


def check_weight(workflow: CommentedMap, findings: Findings) -> bool:
    """False, with an error at the step with which it gets too much."""
    return _Scale(findings).weigh(workflow, (0, 0))


class _Scale:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._values, self._characters = 0, 0

    def weigh(self, workflow: CommentedMap, around: tuple[int, int]) -> bool:
        """``around``: what holds for the workflow. False where it is too much."""
        above = _sum(around, _required(workflow))
        for step in named_nodes(workflow.get("steps")):
            run = None if step.body is None else step.body.get("run")
            if step.body is None or not isinstance(run, CommentedMap):
                continue
            held = _sum(above, _required(step.body))
            if run.get("class") == "Workflow":
                if not self.weigh(run, held):
                    return False
                continue
            values, characters = _sum(held, _size(run))
            self._values += values
            self._characters += characters
            if self._values > MOST_VALUES or self._characters > MOST_CHARACTERS:
                self._findings.error(
                    step.place,
                    f"the tools up to step '{step.name}', each with what the workflow requires for"
                    f" it, come to more than {MOST_VALUES} values or {MOST_CHARACTERS >> 20} MiB of"
                    " text: too much for a template; let only the tools that need it have what is"
                    " large",
                )
                return False
        return True


def _required(owner: CommentedMap) -> tuple[int, int]:
    return _sum(_size(owner.get("requirements")), _size(owner.get("hints")))


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _size(node: Any) -> tuple[int, int]:
    """Values and characters."""
    if isinstance(node, str):
        return 1, len(node)
    values, characters = 1, 0
    inner = (
        [*node, *node.values()]
        if isinstance(node, dict)
        else node
        if isinstance(node, list)
        else ()
    )
    for one in inner:
        more = _size(one)
        values, characters = values + more[0], characters + more[1]
    return values, characters
