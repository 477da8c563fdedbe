"""A graph of steps that grows, and its workflow."""

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Stream:
    """An output of a step.

    ``kind`` is ``file``, ``int``, ``folder`` or ``files``. ``is_list`` means one for each file of
    the data set, and ``is_sparse`` that some may be missing.
    """

    ref: str
    kind: str = "file"
    is_list: bool = True
    is_sparse: bool = False
    #: Streams of one line have corresponding files.
    line: int = 0
    #: Whether some files may have the same name.
    has_equal_files: bool = False


@dataclass(slots=True)
class Graph:
    steps: dict[str, Any] = field(default_factory=dict)
    streams: list[Stream] = field(
        default_factory=lambda: [Stream("texts"), Stream("extra", is_list=False)]
    )
    read: set[str] = field(default_factory=set)
    #: Names of the drawn shapes.
    shapes: list[str] = field(default_factory=list)
    _has_read_equal_files: bool = False

    @property
    def step_outputs(self) -> list[Stream]:
        return [stream for stream in self.streams if "/" in stream.ref]

    def add(self, step: dict[str, Any], *outputs: Stream) -> None:
        """Add a step. Its ``outputs`` are named after their ports."""
        name = f"s{len(self.steps)}"
        self.steps[name] = {**step, "out": [stream.ref for stream in outputs]}
        self.streams += [
            replace(
                stream,
                ref=f"{name}/{stream.ref}",
                has_equal_files=stream.has_equal_files or self._has_read_equal_files,
            )
            for stream in outputs
        ]
        self._has_read_equal_files = False

    def source(self, stream: Stream, *, together: bool = False) -> Any:
        """Return the source of an input.

        With ``together`` missing files keep their place, for scatters over several streams.
        """
        self._mark_as_read(stream)
        leaves_out = stream.is_sparse and stream.is_list and not together
        return {"source": stream.ref, "pickValue": "all_non_null"} if leaves_out else stream.ref

    def sources(self, streams: list[Stream], **more: str) -> dict[str, Any]:
        for stream in streams:
            self._mark_as_read(stream)
        return {"source": [stream.ref for stream in streams], **more}

    def _mark_as_read(self, stream: Stream) -> None:
        self.read.add(stream.ref)
        self._has_read_equal_files |= stream.has_equal_files

    def build_document(self, refs: set[str]) -> dict[str, Any]:
        """Return the workflow.

        Its outputs are the streams in ``refs`` and all that no step uses.
        """
        outputs = [
            stream
            for stream in self.step_outputs
            if stream.ref in refs or stream.ref not in self.read
        ]
        return {
            "cwlVersion": "v1.2",
            "$namespaces": {"sluice": "urn:sluice:cwl:"},
            "class": "Workflow",
            "requirements": {f"{name}Requirement": {} for name in FEATURES},
            "sluice:retention": {"input": "keep"},
            "inputs": {"texts": "File[]"} | ({"extra": "File"} if "extra" in self.read else {}),
            "outputs": {
                stream.ref.replace("/", "-"): {
                    "type": _get_type(stream),
                    "outputSource": stream.ref,
                }
                for stream in outputs
            },
            "steps": self.steps,
        }


FEATURES = (
    "InlineJavascript",
    "MultipleInputFeature",
    "ScatterFeature",
    "StepInputExpression",
    "SubworkflowFeature",
)
_TYPES = {
    "file": "File",
    "int": "int",
    "folder": "Directory",
    "files": {"type": "array", "items": "File"},
}


def _get_type(stream: Stream) -> Any:
    entry = ["null", _TYPES[stream.kind]] if stream.is_sparse else _TYPES[stream.kind]
    return {"type": "array", "items": entry} if stream.is_list else entry
