"""Faster versions of cwltool's checks of links.

cwltool's checks are made for workflows of dozens of steps. Their cost grows with the square of the
text, or they recurse once for each step of a row. The versions here find the same errors.
"""

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import Any

from cwltool import checker, workflow
from schema_salad.exceptions import ValidationException
from schema_salad.sourceline import SourceLine

from sluice.cwl.reading.findings import circle
from sluice.cwl.reading.nodes import local_name

#: The fields of a step that the type check reads. Others would be copied into messages.
_OF_STEPS = ("when", "loop", "outputMethod")

_Parameters = list[Any]


def make_checks_bearable() -> None:
    """Replace cwltool's checks of links in this process."""
    workflow.circular_dependency_checker = _refuse_circles
    workflow.static_checker = _check_types(checker.static_checker)


def _refuse_circles(step_inputs: _Parameters) -> None:
    try:
        TopologicalSorter(checker.get_dependency_tree(step_inputs)).prepare()
    except CycleError as error:
        first, *_ = steps = list(reversed(error.args[1]))[1:]
        message = circle([local_name(step) for step in steps])
        link = next(
            link
            for link in step_inputs
            if "source" in link and checker.get_step_id(link["id"]) == first
        )
        raise ValidationException(SourceLine(link, "source").makeError(message)) from None


def _check_types(check: Callable[..., None]) -> Callable[..., None]:
    def checked(*parameters: _Parameters | dict[str, Any]) -> None:
        """Check the types of all links.

        Args:
            parameters: The inputs and outputs of the workflow, then of the steps, then the step of
                each of these by name.
        """
        *ends, steps = parameters
        assert isinstance(steps, dict)  # noqa: S101 - as cwltool calls it
        known: dict[int, dict[str, Any]] = {}
        for step in steps.values():
            if id(step) not in known:
                known[id(step)] = {key: step[key] for key in _OF_STEPS if key in step} | {
                    "run": "its tool",
                    "inputs": [],
                }
        written = _Written(checker.json_dumps)
        checker.json_dumps = written
        try:
            check(*ends, {name: known[id(step)] for name, step in steps.items()})
        finally:
            checker.json_dumps = written.dumps

    return checked


class _Written:
    """A JSON dump of types, which is cached and shortened because many links share a type."""

    most = 1000

    def __init__(self, dumps: Callable[..., str]) -> None:
        self.dumps = dumps
        self._known: dict[int, str] = {}

    def __call__(self, kind: Any) -> str:
        if id(kind) not in self._known:
            text = self.dumps(kind)
            self._known[id(kind)] = text if len(text) <= self.most else text[: self.most] + " …}"
        return self._known[id(kind)]
