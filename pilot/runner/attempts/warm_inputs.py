"""Inputs of a job as a warm worker gets them, and the inputs that it loads at its start."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from pilot.runner.tools.prepared_job import WarmCommand
from sluice.contracts.data.asset_refs import path_of
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.pilots.leases import PilotTask


def add_inputs(
    command: WarmCommand,
    task: PilotTask,
    files: Sequence[InputFile],
    values: Mapping[str, Sequence[Any]],
) -> WarmCommand:
    """Add the inputs of a job to the command of a warm worker.

    ``files`` are the files of the job in order. ``values`` holds the staged files and the list
    items by port.
    """
    remaining = {port: list(port_values) for port, port_values in values.items()}
    inputs, loads = list[dict[str, str]](), list[tuple[str, str, str]]()
    for file in files:
        port = file.port or task.dat_in_port
        value = values[port][0] if port in task.needs.folders else remaining[port].pop(0)
        if port in command.warm.key:
            loads.append((port, file.name, file.checksum))
        if isinstance(value, dict) and value.get("class") in {"File", "Directory"}:
            path = unquote(str(value.get("location", "")).removeprefix("file://"))
            within = f"/{path_of(file.name)}" if port in task.needs.folders else ""
            inputs.append({"path": path + within, "digest": file.checksum})
    loads += [
        (port, "", json.dumps(values[port][0], sort_keys=True))
        for port in task.needs.items
        if port in command.warm.key
    ]
    loads += [
        (port, ref.name, str(ref.version))
        for port, ref in task.needs.secrets.items()
        if port in command.warm.key
    ]
    return replace(command, loads=loads, inputs=inputs)
