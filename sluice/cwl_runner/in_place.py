"""Tools that change their input files in place (``InplaceUpdateRequirement``).

They run on this machine, in the sandbox that a pilot would use here.
"""

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

#: The command that runs a program in the sandbox. With ``-P`` the folder of a job cannot provide
#: modules.
_SANDBOX_COMMAND = (sys.executable, "-P", "-m", "pilot.sandboxed_tool")


def changes_inputs(process: Any) -> bool:
    """Return whether the process changes its input files in place."""
    inplace, _ = process.get_requirement("InplaceUpdateRequirement")
    return inplace is not None and bool(inplace.get("inplaceUpdate"))


@cache
def missing_sandbox_reason() -> str:
    """Return why this machine has no sandbox, or an empty text if it has one.

    Raises:
        UnsupportedRequirement: The settings of pilots require a sandbox, or are wrong.
    """
    completed = subprocess.run(_SANDBOX_COMMAND, capture_output=True, text=True, check=False)
    if completed.returncode:
        raise UnsupportedRequirement(
            "a tool whose InplaceUpdateRequirement is on runs on this machine, which cannot contain"
            f" it: {completed.stderr.strip()}"
        )
    return completed.stdout.strip()


class SandboxedJob(CommandLineJob):  # type: ignore[misc] # cwltool's types are not followed
    """A job in the sandbox.

    It sees the system, its own folders and its inputs. It may write to its own folders and to the
    inputs that it asks to change.
    """

    def _execute(
        self,
        runtime: list[str],
        env: MutableMapping[str, str],
        runtimeContext: RuntimeContext,
        monitor_function: Any = None,
    ) -> None:
        stage_folders = [folder for folder in (self.stagedir,) if folder and os.path.isdir(folder)]
        sandbox_settings = {
            "environment": dict(env),
            "reads": [*stage_folders, *self._input_paths("File", "Directory")],
            "writes": [
                *self._input_paths("WritableFile", "WritableDirectory"),
                self.outdir,
                self.tmpdir,
            ],
            "network": bool(self.networkaccess),
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(sandbox_settings, file)
            file.flush()
            # The environment of the tool must not affect the process that starts it.
            super()._execute(
                [*_SANDBOX_COMMAND, file.name, *runtime],
                os.environ,
                runtimeContext,
                monitor_function,
            )

    def _input_paths(self, *kinds: str) -> Iterator[str]:
        """Yield the paths of entries of cwltool's ``kinds``.

        They are inputs, and files that the tool finds in its folder.
        """
        for mapper in (self.pathmapper, self.generatemapper):
            for _, entry in () if mapper is None else mapper.items():
                if entry.type in kinds and os.path.isabs(entry.resolved):
                    yield entry.resolved
