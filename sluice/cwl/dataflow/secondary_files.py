"""Patterns of secondary files, and whether what needs such files is given them."""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.contracts.plan import SecondaryFile
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.types import holds_files
from sluice.cwl.documents.workflow import Workflow
from sluice.cwl.reading.findings import Findings


def patterns_of(body: Mapping[str, Any]) -> Iterator[SecondaryFile | None]:
    """Of a port; None for one that has an expression, or is malformed."""
    written = body.get("secondaryFiles")
    for one in written if isinstance(written, list) else [] if written is None else [written]:
        yield _pattern(one)


def _pattern(written: Any) -> SecondaryFile | None:
    pattern, required = written, None
    if isinstance(written, Mapping):
        pattern, required = written.get("pattern"), written.get("required")
    if (
        not isinstance(pattern, str)
        or "$(" in pattern
        or "${" in pattern
        or not isinstance(required, bool | None)
    ):
        return None
    if pattern.endswith("?"):
        return SecondaryFile(pattern=pattern[:-1], required=False)
    return SecondaryFile(pattern=str(pattern), required=required is not False)


def check_secondary_files(workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """Within a workflow a file has the secondary files that its writer says, and nobody looks
    beside it for more."""
    for (name, port), origin in wiring.origins.items():
        step = workflow.steps[name]
        sink, stream = step.tool_inputs.get(port), wiring.streams.get(origin)
        if (
            sink is None
            or stream is None
            or stream.secondary
            or "valueFrom" in step.links[port].body
        ):
            continue
        needed = [
            found.pattern
            for found in patterns_of(sink.body)
            if found is not None and found.required
        ]
        if needed and holds_files(sink.type):
            source = (step.links[port].sources or ["?"])[0]
            findings.error(
                sink.place_of("secondaryFiles"),
                f"'{port}' of step '{name}' needs secondaryFiles ({', '.join(needed)}), and"
                f" '{source}' does not say that it has any: write 'secondaryFiles' there, too",
            )
