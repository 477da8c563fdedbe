"""Default files of parameters, which jobs get as text if the chain is given no other file."""

from typing import Any

from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.workflow import Port, Step, Workflow
from sluice.cwl.reading.nodes import plain_json


def file_literal(port: Port) -> dict[str, Any] | None:
    """Return the default of an input as a File with its text, or None if it has none."""
    default = plain_json(port.body.get("default"))
    if not isinstance(default, dict) or default.get("class") != "File":
        return None
    return default if isinstance(default.get("contents"), str) else None


def default_files(
    step: Step, link: str, workflow: Workflow, wiring: Wiring
) -> list[dict[str, Any]]:
    """Return the default files of the parameters among a link's sources."""
    ports = [
        workflow.inputs[origin.port]
        for origin in wiring.sources(step.name, link)
        if origin.step is None and origin.port in wiring.file_inputs
    ]
    return [literal for port in ports if (literal := file_literal(port)) is not None]
