"""What flows between steps: the entries of each data set that a workflow reads or writes.

In CWL every link carries one value. Where that value is a list (what a scattered step gives, and the data input), the data set
has an entry for each of its items; else one entry, or one for each group of a merge.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.contracts.states import EntryKind
from sluice.cwl.cwltypes import PRIMITIVES, holds_files, type_names, without_null
from sluice.cwl.model import Origin, Port, Step, Workflow
from sluice.cwl.tree import mappings


@dataclass(frozen=True, slots=True)
class Stream:
    """``type``: of an entry. ``many``: CWL sees a list of entries. ``spread``: that list is what a single job gives.
    ``secondary``: files among the entries may have secondary files with them."""

    type: Any
    many: bool
    spread: bool = False
    secondary: bool = False

    @property
    def kind(self) -> EntryKind:
        return EntryKind.FILE if self.type == "File" and not self.secondary else EntryKind.BUNDLE


@dataclass(slots=True)
class Streams:
    """``links``: (step, input) → where it comes from, in order. The links may go in circles, which is told elsewhere.
    ``file_inputs``: parameters that are a file."""

    workflow: Workflow
    data_input: str | None
    file_inputs: frozenset[str]
    links: Mapping[tuple[str, str], Sequence[Origin]]
    _known: dict[Origin, Stream | None] = field(default_factory=dict)

    def of(self, origin: Origin | None) -> Stream | None:
        """None for a parameter, and for what is not there."""
        if origin is None:
            return None
        if origin not in self._known:
            self._known[origin] = None  # where it is asked for again on the way
            self._known[origin] = self._found(origin)
        return self._known[origin]

    def into(self, step: str) -> Iterable[Stream]:
        """All streams that the step reads."""
        found = (self.of(origin) for (reader, _), origins in self.links.items() if reader == step for origin in origins)
        return [stream for stream in found if stream is not None]

    def _found(self, origin: Origin) -> Stream | None:
        if origin.step is None:
            if origin.port in self.file_inputs:
                return Stream("File", many=False)
            port = self.workflow.inputs.get(origin.port)
            return _first(port) if port is not None and origin.port == self.data_input else None
        step = self.workflow.steps[origin.step]
        found = step.tool_outputs.get(origin.port)
        if found is None:
            return Stream("Any", many=bool(step.scatter)) if origin.port in step.outputs else None
        kind, secondary = without_null(found.type), self._may_have_secondary(step, found)
        if not step.scatter and self._is_scattered_over(origin):
            return Stream(_item(kind), many=True, spread=True, secondary=secondary)
        return Stream(kind, many=bool(step.scatter), secondary=secondary)

    def _is_scattered_over(self, origin: Origin) -> bool:
        steps = self.workflow.steps
        return any(list(found) == [origin] and port in steps[step].scatter for (step, port), found in self.links.items())

    def _may_have_secondary(self, step: Step, port: Port) -> bool:
        """They are declared; or it is a file that was made elsewhere and is handed on as it is."""
        if any("secondaryFiles" in part for part in mappings(port.body)):
            return True
        if not (holds_files(port.type) or type_names(port.type) - PRIMITIVES or "Any" in type_names(port.type)):
            return False
        if step.tool.get("class") == "CommandLineTool" and not any("outputEval" in part for part in mappings(port.body)):
            return False
        inside = step.tool.get("class") != "CommandLineTool" and any("secondaryFiles" in part for part in mappings(step.tool))
        return inside or any(stream.secondary for stream in self.into(step.name))


def _first(port: Port) -> Stream:
    return Stream(_item(without_null(port.type)), many=True, secondary="secondaryFiles" in port.body)


def _item(kind: Any) -> Any:
    """Of a list; of anything else it is not known before it is there."""
    return without_null(kind["items"]) if isinstance(kind, dict) and kind.get("type") == "array" else "Any"
