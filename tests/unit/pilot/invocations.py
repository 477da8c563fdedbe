"""Input files that describe the process to run."""

import json
from pathlib import Path
from typing import Any

from sluice.contracts.jobs.job_inputs import InputFile
from tests.unit.pilot.builders import input_file

OPERATION = {"class": "Operation", "inputs": {"f": "File"}, "outputs": {"o": "File"}}


def invocation(
    root: Path,
    process: dict[str, Any],
    order: dict[str, Any],
    *,
    name: str = "0.json",
    **fields: Any,
) -> InputFile:
    body = {"process": process, "order": order, **fields}
    return input_file(root / "store" / "orders" / name, data=json.dumps(body).encode())
