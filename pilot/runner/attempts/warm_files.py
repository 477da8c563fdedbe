"""The files of a job, as a tool that stays loaded is told of them, and those that decide what it
loads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from pilot.runner.tools.prepared_job import WarmCommand
from sluice.contracts.asset_refs import path_of
from sluice.contracts.pilots import InputFile, PilotTask


def with_files(
    command: WarmCommand,
    task: PilotTask,
    files: Sequence[InputFile],
    values: Mapping[str, Sequence[Any]],
) -> WarmCommand:
    """``files``: of the job, in order; ``values``: what became of them, by port."""
    left = {port: list(given) for port, given in values.items()}
    inputs, loads = list[dict[str, str]](), list[tuple[str, str, str]]()
    for file in files:
        port = file.port or task.dat_in_port
        value = values[port][0] if port in task.needs.folders else left[port].pop(0)
        if port in command.warm.key:
            loads.append((port, file.name, file.checksum))
        if isinstance(value, dict) and value.get("class") in {"File", "Directory"}:
            path = unquote(str(value.get("location", "")).removeprefix("file://"))
            within = f"/{path_of(file.name)}" if port in task.needs.folders else ""
            inputs.append({"path": path + within, "digest": file.checksum})
    return replace(command, loads=loads, inputs=inputs)
