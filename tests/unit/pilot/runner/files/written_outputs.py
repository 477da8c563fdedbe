"""Tools that write their output object, and bundles of outputs."""

from pathlib import Path
from typing import Any

from sluice.contracts.common.states import EntryKind
from sluice.contracts.jobs.tasks import TaskOutput
from tests.unit.pilot.builders import make_output, make_tool


def make_writing_tool(kind: Any) -> dict[str, Any]:
    """Return a tool whose output object is the content of its input."""
    process = make_tool(
        ["cp"], arguments=["$(inputs.f.path)", "cwl.output.json"], outputs={"o": kind}
    )
    del process["stdout"]
    return process


def make_bundle_output(root: Path) -> TaskOutput:
    return make_output(root, "o").model_copy(update={"kind": EntryKind.BUNDLE})
