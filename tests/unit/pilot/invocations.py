"""Input files that describe the process to run."""

import json
from pathlib import Path
from typing import Any

from sluice.contracts.jobs.job_inputs import InputFile
from tests.unit.pilot.builders import write_input

OPERATION = {"class": "Operation", "inputs": {"f": "File"}, "outputs": {"o": "File"}}


def write_invocation(
    root: Path,
    process: dict[str, Any],
    order: dict[str, Any],
    *,
    name: str = "0.json",
    **fields: Any,
) -> InputFile:
    body = {"process": process, "order": order, **fields}
    return write_input(root / "store" / "orders" / name, data=json.dumps(body).encode())
