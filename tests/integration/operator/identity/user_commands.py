"""Commands of people who have stored tokens."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from tests.servers import commands


@dataclass(frozen=True)
class User:
    """A person at a machine; ``config_folder`` has stored tokens, ``token`` is a variable."""

    url: str
    config_folder: Path
    token: str = ""

    async def __call__(self, *arguments: str, code: int = 0, answered: str = "") -> str:
        """Return the output of the command; ``answered`` is its standard input."""
        environment = {
            "SLUICE_URL": self.url,
            "PATH": "/usr/bin",
            "XDG_CONFIG_HOME": str(self.config_folder),
            "SLUICE_TOKEN": self.token,
        }
        done = await asyncio.to_thread(
            commands.run, "sluice", *arguments, env=environment, answered=answered
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr
