"""The command `sluice` in its own process."""

import asyncio

from tests.servers import commands


class Command:
    """The command `sluice` as a person runs it."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def __call__(self, *arguments: str, code: int = 0, answered: str = "") -> str:
        """Return the output of the command; ``answered`` is its standard input."""
        environment = {"SLUICE_URL": self.url, "PATH": "/usr/bin"}
        done = await asyncio.to_thread(
            commands.run, "sluice", *arguments, env=environment, answered=answered
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr
