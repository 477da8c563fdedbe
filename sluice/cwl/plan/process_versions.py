"""Processes of several CWL versions in one job.

Each file keeps its own version, because the reference runner updates file by file.
"""

from typing import Any


def with_own_files(process: dict[str, Any], version: str) -> dict[str, Any]:
    """Leave a version only on the processes that must be files of their own.

    Args:
        process: The process, which is changed.
        version: The version of what is around it.
    """
    own = process.get("cwlVersion", version)
    for step in steps_of(process):
        run = step.get("run")
        if isinstance(run, dict):
            if run.get("cwlVersion", own) == own:
                run.pop("cwlVersion", None)
            with_own_files(run, own)
    return process


def steps_of(process: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a process."""
    steps = process.get("steps", ())
    found = steps.values() if isinstance(steps, dict) else steps
    return [step for step in found if isinstance(step, dict)]
