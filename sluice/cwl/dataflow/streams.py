"""The entries of each data set that a workflow reads or writes.

In CWL every link carries one value. If the value is a list (the output of a scattered step, or the
data input), the data set has an entry for each item. Otherwise it has one entry, or one for each
group of a merge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.contracts.common.states import EntryKind
from sluice.cwl.documents.types import PRIMITIVES, holds_files, is_list, type_names, without_null
from sluice.cwl.documents.workflow import InputOfStep, Port, SourcePort, Workflow
from sluice.cwl.reading.nodes import mappings


@dataclass(frozen=True, slots=True)
class EntryStream:
    """The entries of a data set.

    Attributes:
        type: The type of an entry.
        many: Whether CWL sees a list of entries.
        spread: Whether a single job writes the list.
        secondary: Whether files may have secondary files.
        folder: Whether CWL sees one folder whose files are the entries.
    """

    type: Any
    many: bool
    spread: bool = False
    secondary: bool = False
    folder: bool = False

    @property
    def kind(self) -> EntryKind:
        """Plain files, or bundles."""
        plain = self.folder or (self.type == "File" and not self.secondary)
        return EntryKind.FILE if plain else EntryKind.BUNDLE


@dataclass(slots=True)
class EntryStreams:
    """The entry streams of a workflow.

    The links may contain cycles, which are reported elsewhere, and long rows of steps. So nothing
    here recurses along the links.

    Attributes:
        workflow: The workflow.
        data_inputs: Inputs of the workflow that steps see as data sets.
        assets: The inputs among them that are bound to assets.
        links: By (step, input), the sources in order.
        collected: Sources that go to append-only data sets, item by item if they are lists.
    """

    workflow: Workflow
    data_inputs: frozenset[str]
    assets: frozenset[str]
    links: Mapping[InputOfStep, Sequence[SourcePort]]
    collected: frozenset[SourcePort] = frozenset()
    _known: dict[SourcePort, EntryStream | None] = field(default_factory=dict)
    #: Sources that a step scatters over and does not join with others.
    _scattered: set[SourcePort] = field(default_factory=set)
    #: Sources that may have secondary files.
    _secondary: set[SourcePort] = field(default_factory=set)

    def __post_init__(self) -> None:
        for (step, port), found in self.links.items():
            if len(found) == 1 and port in self.workflow.steps[step].scatter:
                self._scattered.add(found[0])
        self._find_secondary()

    def of(self, origin: SourcePort) -> EntryStream | None:
        """Return the entries of a source, or None for a parameter or an unknown source."""
        if origin not in self._known:
            self._known[origin] = self._found(origin)
        return self._known[origin]

    def _found(self, origin: SourcePort) -> EntryStream | None:
        if origin.step is None:
            if origin.port not in self.data_inputs:
                return None
            return _given(self.workflow.inputs[origin.port], asset=origin.port in self.assets)
        step = self.workflow.steps[origin.step]
        found = step.tool_outputs.get(origin.port)
        if found is None:
            return (
                EntryStream("Any", many=bool(step.scatter)) if origin.port in step.outputs else None
            )
        kind, secondary = without_null(found.type), origin in self._secondary
        collected = origin in self.collected and is_list(kind)
        if not step.scatter and (origin in self._scattered or collected):
            return EntryStream(_item(kind), many=True, spread=True, secondary=secondary)
        return EntryStream(kind, many=bool(step.scatter), secondary=secondary)

    def _find_secondary(self) -> None:
        """Find the sources that may have secondary files.

        They are declared for an output, or inside what a step runs, or a step passes such files on.
        """
        readers: dict[SourcePort, list[str]] = {}
        for (reader, _), found in self.links.items():
            for origin in found:
                readers.setdefault(origin, []).append(reader)
        handing_on: dict[str, list[SourcePort]] = {}
        reached = [
            SourcePort(None, name)
            for name, port in self.workflow.inputs.items()
            if self._is_data(name, port)
        ]
        for step in self.workflow.steps.values():
            no_tool = step.tool.get("class") != "CommandLineTool"
            inside = no_tool and any("secondaryFiles" in part for part in mappings(step.tool))
            for name, port in step.tool_outputs.items():
                may_hand_on = _may_hold_files(port.type) and (no_tool or _is_evaluated(port))
                if any("secondaryFiles" in part for part in mappings(port.body)) or (
                    inside and may_hand_on
                ):
                    reached.append(SourcePort(step.name, name))
                elif may_hand_on:
                    handing_on.setdefault(step.name, []).append(SourcePort(step.name, name))
        while reached:
            origin = reached.pop()
            if origin not in self._secondary:
                self._secondary.add(origin)
                reached += [
                    output
                    for reader in readers.get(origin, ())
                    for output in handing_on.get(reader, ())
                ]

    def _is_data(self, name: str, port: Port) -> bool:
        return (
            name in self.data_inputs and name not in self.assets and "secondaryFiles" in port.body
        )


def _may_hold_files(kind: Any) -> bool:
    return bool(holds_files(kind) or type_names(kind) - PRIMITIVES or "Any" in type_names(kind))


def _is_evaluated(port: Port) -> bool:
    return any("outputEval" in part for part in mappings(port.body))


def _given(port: Port, *, asset: bool) -> EntryStream:
    """Return the stream of a file, a directory, or a list of them, that a chain is given."""
    kind = without_null(port.type)
    if kind in ("File", "Directory"):
        secondary = not asset and kind == "File" and "secondaryFiles" in port.body
        return EntryStream(
            kind, many=False, folder=asset and kind == "Directory", secondary=secondary
        )
    secondary = not asset and "secondaryFiles" in port.body
    return EntryStream(_item(kind), many=True, secondary=secondary)


def _item(kind: Any) -> Any:
    """Return the type of a list's items. Other types are unknown before the run."""
    return (
        without_null(kind["items"])
        if isinstance(kind, dict) and kind.get("type") == "array"
        else "Any"
    )
