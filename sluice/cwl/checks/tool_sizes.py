"""Check of the total size of the tools in a plan.

The requirements of the workflow and its steps become part of each tool that they apply to. So a
short text can stand for a long plan.
"""

from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.findings import Findings
from sluice.cwl.reading.nodes import named_nodes
from sluice.cwl.reading.yaml_text import MAX_NODES
from sluice.text.visible_text import quoted

#: Values in all tools together. With 100 values a step, this is five times the limit of steps.
MAX_VALUES = 4 * MAX_NODES
#: Characters in all tools together. The plan is read whenever one of its steps starts.
MAX_CHARACTERS = 32 * 1024 * 1024


@dataclass(slots=True)
class _Size:
    values: int = 0
    characters: int = 0

    def __add__(self, other: "_Size") -> "_Size":
        return _Size(self.values + other.values, self.characters + other.characters)

    def add(self, node: Any) -> None:
        self.values += 1
        if isinstance(node, str):
            self.characters += len(node)
        elif isinstance(node, dict):
            for key, value in node.items():
                self.add(key)
                self.add(value)
        elif isinstance(node, list):
            for item in node:
                self.add(item)

    @property
    def exceeds_limit(self) -> bool:
        return self.values > MAX_VALUES or self.characters > MAX_CHARACTERS


def check_tool_sizes(workflow: CommentedMap, findings: Findings) -> bool:
    """Return whether the tools are small enough, and report the step that exceeds the limit."""
    return _SizeChecker(findings).check(workflow, _Size())


class _SizeChecker:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._all = _Size()

    def check(self, workflow: CommentedMap, outer_size: _Size) -> bool:
        """Return whether the tools of a workflow are small enough, and report the first excess.

        Args:
            workflow: The workflow.
            outer_size: The size of the requirements that apply to the workflow from outside.
        """
        workflow_size = outer_size + _requirements_size(workflow)
        for step in named_nodes(workflow.get("steps")):
            run = None if step.body is None else step.body.get("run")
            if step.body is None or not isinstance(run, CommentedMap):
                continue
            step_size = workflow_size + _requirements_size(step.body)
            if run.get("class") == "Workflow":
                if not self.check(run, step_size):
                    return False
                continue
            self._all += step_size + _size(run)
            if self._all.exceeds_limit:
                self._findings.error(
                    step.place,
                    f"the tools up to step {quoted(step.name)}, each with what the workflow"
                    f" requires for it, add up to more than {MAX_VALUES} values or"
                    f" {MAX_CHARACTERS >> 20} MiB of text: too much for a template; let only the"
                    " tools that need it have what is large",
                )
                return False
        return True


def _requirements_size(owner: CommentedMap) -> _Size:
    return _size(owner.get("requirements")) + _size(owner.get("hints"))


def _size(node: Any) -> _Size:
    size = _Size()
    size.add(node)
    return size
