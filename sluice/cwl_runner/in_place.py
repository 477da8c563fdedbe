"""Tools that change their input files where these lie: on this machine, in the sandbox that a pilot
would have here."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, MutableMapping
from functools import cache
from typing import Any

from cwltool.context import RuntimeContext
from cwltool.errors import UnsupportedRequirement
from cwltool.job import CommandLineJob

#: Runs a program in the sandbox. A folder of a job is not where it is looked for.
_CONTAINED = (sys.executable, "-P", "-m", "pilot.sandboxed_tool")


def changes_inputs(process: Any) -> bool:
    inplace, _ = process.get_requirement("InplaceUpdateRequirement")
    return inplace is not None and bool(inplace.get("inplaceUpdate"))


@cache
def why_in_the_open() -> str:
    """Why there is no sandbox on this machine; empty: there is one. Raises
    ``UnsupportedRequirement`` where the settings of pilots require one."""
    asked = subprocess.run(_CONTAINED, capture_output=True, text=True, check=False)
    if asked.returncode:
        raise UnsupportedRequirement(
            "a tool whose InplaceUpdateRequirement is on runs on this machine, which cannot contain"
            f" it: {asked.stderr.strip()}"
        )
    return asked.stdout.strip()


class SandboxedJob(CommandLineJob):  # type: ignore[misc] # cwltool's types are not followed
    """Sees the system, its own folders, its inputs, and to write to those of them that it asks to
    change."""

    def _execute(
        self,
        runtime: list[str],
        env: MutableMapping[str, str],
        runtimeContext: RuntimeContext,
        monitor_function: Any = None,
    ) -> None:
        made = [folder for folder in (self.stagedir,) if folder and os.path.isdir(folder)]
        told = {
            "environment": dict(env),
            "reads": [*made, *self._files("File", "Directory")],
            "writes": [
                *self._files("WritableFile", "WritableDirectory"),
                self.outdir,
                self.tmpdir,
            ],
            "network": bool(self.networkaccess),
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(told, file)
            file.flush()
            # What the tool is to have in its environment does not reach what starts it.
            super()._execute(
                [*_CONTAINED, file.name, *runtime], os.environ, runtimeContext, monitor_function
            )

    def _files(self, *kinds: str) -> Iterator[str]:
        """Of cwltool's ``kinds``, where they lie: inputs, and what the tool finds in its folder."""
        for mapper in (self.pathmapper, self.generatemapper):
            for _, entry in () if mapper is None else mapper.items():
                if entry.type in kinds and os.path.isabs(entry.resolved):
                    yield entry.resolved
