"""Processes of several CWL versions in one job.

Each file keeps its own version, because the reference runner updates file by file.
"""

from typing import Any


def keep_file_versions(process: dict[str, Any], version: str) -> dict[str, Any]:
    """Leave a version only on the processes that must be separate files.

    Args:
        process: The process, which is changed.
        version: The version of what is around it.
    """
    own_version = process.get("cwlVersion", version)
    for step in process_steps(process):
        run = step.get("run")
        if isinstance(run, dict):
            if run.get("cwlVersion", own_version) == own_version:
                run.pop("cwlVersion", None)
            keep_file_versions(run, own_version)
    return process


def process_steps(process: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a process."""
    steps = process.get("steps", ())
    items = steps.values() if isinstance(steps, dict) else steps
    return [step for step in items if isinstance(step, dict)]
