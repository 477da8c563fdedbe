"""Run a service as a process, with settings in secret files and in the environment."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from stack.ports import free_ports
from tests.waiting import eventually

MODULE = [sys.executable, "-m"]
COMMAND = [sys.executable, "-m", "sluice.cli", "serve"]


class ServiceProcess:
    """A running service. The constructor starts it.

    ``settings`` maps variables to values. Those whose names end in ``_URL`` go to secret files.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, settings: Mapping[str, str], *, port: int = 0
    ) -> None:
        self.folder = folder
        self.log = folder / "log"
        secrets = folder / "secrets"
        secrets.mkdir(exist_ok=True)
        self.port = port or free_ports(1)[0]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")
        }
        environment |= {"SLUICE_SECRETS_DIR": str(secrets)}
        for name, value in settings.items():
            if name.endswith("_URL"):
                (secrets / name.lower()).write_text(f"{value}\n")
            else:
                environment[name] = value
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env=environment | {f"SLUICE_{_abbreviate(command)}_PORT": str(self.port)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=60)

    async def answers(self) -> None:
        """Wait until the process listens."""

        async def listens() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            try:
                return (await self.http.get("/healthz")).status_code == 200
            except httpx.TransportError:
                return False

        await eventually(listens, what="the process listens")

    async def waits_for(self, what: str, *words: str) -> str:
        """Wait until ``/readyz`` answers 503 with one of the words in the reason for ``what``."""

        async def says() -> bool:
            answer = await self.http.get("/readyz")
            reason = str(answer.json().get(what, ""))
            return answer.status_code == 503 and any(word in reason for word in words)

        await eventually(says, what=f"it waits for {what}: {words}")
        return str((await self.http.get("/readyz")).json()[what])

    async def is_ready(self) -> dict[str, Any]:
        async def says() -> bool:
            return (await self.http.get("/readyz")).status_code == 200

        await eventually(says, what="the service is ready", seconds=60)
        report: dict[str, Any] = (await self.http.get("/readyz")).json()
        return report

    async def ended(self) -> int:
        """Return the exit status."""
        return await asyncio.to_thread(self.process.wait, 30)

    async def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return await self.ended()

    async def clean_up(self) -> None:
        await self.http.aclose()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _abbreviate(command: Sequence[str]) -> str:
    return command[-1].removeprefix("wfms.").upper()
