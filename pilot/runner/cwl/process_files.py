"""Files of CWL processes for cwltool, which updates each file from its own CWL version."""

import os
from collections.abc import Mapping
from typing import Any

from pilot.runner.cwl.exact_values import write_document


def write_process(document: Mapping[str, Any], path: str) -> list[str]:
    """Write a process to ``path`` and return the paths of all written files.

    Each inner process that declares its own version is written to a separate file beside it.
    """
    files = _ProcessWriter(path, document.get("$namespaces"), [path])
    write_document(files.extract(document), path)
    return files.paths


class _ProcessWriter:
    def __init__(self, path: str, namespaces: Any, paths: list[str]) -> None:
        self._path = path
        self._namespaces = {} if namespaces is None else {"$namespaces": namespaces}
        self.paths = paths

    def extract(self, process: Mapping[str, Any]) -> dict[str, Any]:
        """Return the process with file names in place of inner processes in their own files."""
        steps = process.get("steps")
        if isinstance(steps, Mapping):
            return {
                **process,
                "steps": {name: self._extract_step(step) for name, step in steps.items()},
            }
        if isinstance(steps, list):
            return {**process, "steps": [self._extract_step(step) for step in steps]}
        return dict(process)

    def _extract_step(self, step: Any) -> Any:
        run = step.get("run") if isinstance(step, Mapping) else None
        if not isinstance(run, Mapping):
            return step
        return {
            **step,
            "run": self._write_own_file(run) if "cwlVersion" in run else self.extract(run),
        }

    def _write_own_file(self, process: Mapping[str, Any]) -> str:
        path = f"{self._path}.{len(self.paths)}.cwl"
        self.paths.append(path)
        write_document({**self._namespaces, **self.extract(process)}, path)
        return os.path.basename(path)
