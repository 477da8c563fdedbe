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

from sluice.cwl.reading.findings import cycle_message
from sluice.text.identifiers import local_name

#: The fields of a step that the type check reads. Other fields would be copied into messages.
_STEP_FIELDS = ("when", "loop", "outputMethod")

_Parameters = list[Any]


def install_fast_checks() -> None:
    """Replace cwltool's checks of links in this process."""
    workflow.circular_dependency_checker = _refuse_cycles
    workflow.static_checker = _faster_type_check(checker.static_checker)


def _refuse_cycles(step_inputs: _Parameters) -> None:
    try:
        TopologicalSorter(checker.get_dependency_tree(step_inputs)).prepare()
    except CycleError as error:
        first, *_ = steps = list(reversed(error.args[1]))[1:]
        message = cycle_message([local_name(step) for step in steps])
        link = next(
            link
            for link in step_inputs
            if "source" in link and checker.get_step_id(link["id"]) == first
        )
        raise ValidationException(SourceLine(link, "source").makeError(message)) from None


def _faster_type_check(check: Callable[..., None]) -> Callable[..., None]:
    def check_types(*parameters: _Parameters | dict[str, Any]) -> None:
        """Check the types of all links.

        Args:
            parameters: The inputs and outputs of the workflow, and those of the steps. The last
                parameter maps the names of these ports to their steps.
        """
        *ports, steps = parameters
        assert isinstance(steps, dict)  # noqa: S101 - as cwltool calls it
        step_fields: dict[int, dict[str, Any]] = {}
        for step in steps.values():
            if id(step) not in step_fields:
                step_fields[id(step)] = {key: step[key] for key in _STEP_FIELDS if key in step} | {
                    "run": "its tool",
                    "inputs": [],
                }
        dumper = _TypeDumper(checker.json_dumps)
        checker.json_dumps = dumper
        try:
            check(*ports, {name: step_fields[id(step)] for name, step in steps.items()})
        finally:
            checker.json_dumps = dumper.dumps

    return check_types


class _TypeDumper:
    """A JSON dump of types, which is cached and shortened because many links share a type."""

    max_length = 1000

    def __init__(self, dumps: Callable[..., str]) -> None:
        self.dumps = dumps
        self._texts: dict[int, str] = {}

    def __call__(self, kind: Any) -> str:
        if id(kind) not in self._texts:
            text = self.dumps(kind)
            self._texts[id(kind)] = (
                text if len(text) <= self.max_length else text[: self.max_length] + " …}"
            )
        return self._texts[id(kind)]
