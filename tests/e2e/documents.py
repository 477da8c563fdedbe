"""Run the commands of a documentation page literally in a folder that looks like the repository."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.systems import NO_CONTAINERS

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT_BLOCK = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Folders that a reader does not have.
EXCLUDED_FOLDERS = {"out", "var", "squeezed", "pages", "choosy", "weblogs", "spell"}


def read_commands(page: Path) -> str:
    """Return all ``bash`` blocks of the page, joined."""
    return "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))


def read_output_blocks(page: Path) -> list[str]:
    """Return the ``text`` blocks of the page, which show the output of its commands."""
    return OUTPUT_BLOCK.findall(page.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class PageReader:
    """A person who pastes the commands into a shell.

    ``folder`` links to all files of the repository, so that output of commands stays outside of it.
    The data of the system are below ``home``, and its port is any free one.
    """

    folder: Path
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def create(cls, place: Path, **environment: str) -> "PageReader":
        folder = place / "sluice"
        folder.mkdir()
        for entry in ROOT.iterdir():
            if entry.name not in EXCLUDED_FOLDERS:
                (folder / entry.name).symlink_to(entry)
        return cls(folder, place / "home", environment)

    def run(self, script: str, *, folder: Path | None = None) -> str:
        """Run the commands and return their output; a command that fails ends the test."""
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in {"VIRTUAL_ENV", "SLUICE_URL"}
        }
        environment |= {
            "SLUICE_HOME": str(self.home),
            "SLUICE_PORT": "0",
            "COLUMNS": "200",
            **NO_CONTAINERS,
            **self.environment,
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder or self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, f"exit status {done.returncode} of\n{script}\n{done.stdout}"
        return done.stdout

    def activate_environment(self, script: str) -> str:
        return self.run("source .venv/bin/activate\n" + script)
