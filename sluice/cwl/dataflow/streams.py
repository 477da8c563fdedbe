"""The entries of each data set that a workflow reads or writes.

In CWL every link carries one value. The output of a scattered step and the data input are lists, so
their data sets have an entry for each item. Other data sets have one entry, or one for each group
of a merge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.contracts.common.states import EntryKind
from sluice.cwl.documents.types import PRIMITIVES, contains_files, is_list, type_names, without_null
from sluice.cwl.documents.workflow import Port, SourcePort, StepInputName, Workflow
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
        bundles: The inputs among them whose value is one bundle.
        links: By (step, input), the sources in order.
        appended_ports: Sources that go to append-only data sets, item by item if they are lists.
    """

    workflow: Workflow
    data_inputs: frozenset[str]
    assets: frozenset[str]
    bundles: frozenset[str]
    links: Mapping[StepInputName, Sequence[SourcePort]]
    appended_ports: frozenset[SourcePort] = frozenset()
    _streams: dict[SourcePort, EntryStream | None] = field(default_factory=dict)
    #: Sources that a step scatters over and does not join with others.
    _scattered_ports: set[SourcePort] = field(default_factory=set)
    #: Sources that may have secondary files.
    _secondary_ports: set[SourcePort] = field(default_factory=set)

    def __post_init__(self) -> None:
        for (step, port), origins in self.links.items():
            if len(origins) == 1 and port in self.workflow.steps[step].scatter:
                self._scattered_ports.add(origins[0])
        self._find_secondary()

    def find(self, origin: SourcePort) -> EntryStream | None:
        """Return the entries of a source, or None for a parameter or an unknown source."""
        if origin not in self._streams:
            self._streams[origin] = self._read_stream(origin)
        return self._streams[origin]

    def _read_stream(self, origin: SourcePort) -> EntryStream | None:
        if origin.step is None:
            if origin.port not in self.data_inputs:
                return None
            port = self.workflow.inputs[origin.port]
            if origin.port in self.bundles:
                return EntryStream(without_null(port.type), many=False, secondary=True)
            return _input_stream(port, is_asset=origin.port in self.assets)
        step = self.workflow.steps[origin.step]
        output = step.tool_outputs.get(origin.port)
        if output is None:
            return (
                EntryStream("Any", many=bool(step.scatter)) if origin.port in step.outputs else None
            )
        kind, secondary = without_null(output.type), origin in self._secondary_ports
        is_appended = origin in self.appended_ports and is_list(kind)
        if not step.scatter and (origin in self._scattered_ports or is_appended):
            return EntryStream(_item_type(kind), many=True, spread=True, secondary=secondary)
        return EntryStream(kind, many=bool(step.scatter), secondary=secondary)

    def _find_secondary(self) -> None:
        """Find the sources that may have secondary files.

        They are declared for an output, or inside what a step runs, or a step passes such files on.
        """
        downstream_steps: dict[SourcePort, list[str]] = {}
        for (step_name, _), origins in self.links.items():
            for origin in origins:
                downstream_steps.setdefault(origin, []).append(step_name)
        passing_outputs: dict[str, list[SourcePort]] = {}
        pending = [
            SourcePort(None, name)
            for name, port in self.workflow.inputs.items()
            if self._is_data(name, port)
        ]
        for step in self.workflow.steps.values():
            no_tool = step.tool.get("class") != "CommandLineTool"
            declares_inside = no_tool and any(
                "secondaryFiles" in part for part in mappings(step.tool)
            )
            for name, port in step.tool_outputs.items():
                may_pass_on = _may_contain_files(port.type) and (no_tool or _has_expression(port))
                if any("secondaryFiles" in part for part in mappings(port.body)) or (
                    declares_inside and may_pass_on
                ):
                    pending.append(SourcePort(step.name, name))
                elif may_pass_on:
                    passing_outputs.setdefault(step.name, []).append(SourcePort(step.name, name))
        while pending:
            origin = pending.pop()
            if origin not in self._secondary_ports:
                self._secondary_ports.add(origin)
                pending += [
                    output
                    for step_name in downstream_steps.get(origin, ())
                    for output in passing_outputs.get(step_name, ())
                ]

    def _is_data(self, name: str, port: Port) -> bool:
        return (
            name in self.data_inputs and name not in self.assets and "secondaryFiles" in port.body
        )


def _may_contain_files(kind: Any) -> bool:
    return bool(contains_files(kind) or type_names(kind) - PRIMITIVES or "Any" in type_names(kind))


def _has_expression(port: Port) -> bool:
    return any("outputEval" in part for part in mappings(port.body))


def _input_stream(port: Port, *, is_asset: bool) -> EntryStream:
    """Return the stream of an input that is a file, a directory, or a list of them."""
    kind = without_null(port.type)
    if kind in ("File", "Directory"):
        secondary = not is_asset and kind == "File" and "secondaryFiles" in port.body
        return EntryStream(
            kind, many=False, folder=is_asset and kind == "Directory", secondary=secondary
        )
    secondary = not is_asset and "secondaryFiles" in port.body
    return EntryStream(_item_type(kind), many=True, secondary=secondary)


def _item_type(kind: Any) -> Any:
    """Return the type of a list's items. Other types are unknown before the run."""
    return (
        without_null(kind["items"])
        if isinstance(kind, dict) and kind.get("type") == "array"
        else "Any"
    )
