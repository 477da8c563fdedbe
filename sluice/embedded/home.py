"""The one folder of an embedded system: its database, storages, pilots' work, logs, and who is running it."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from sluice.embedded.processes import lives


class HomeBusy(OSError):
    """Another process runs the system in this folder."""

    def __init__(self, home: Path, running: "RunningSystem | None") -> None:
        where = f" at {running.url} (process {running.pid})" if running else ""
        super().__init__(f"a system already runs in {home}{where}; use it, stop it with `sluice down`, or choose another --home")
        self.home = home
        self.running = running


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """Who runs the system of a home folder, and where it answers."""

    pid: int
    url: str
    started_at: str


class Home:
    """``root`` is made when it is not there. All paths are absolute."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.database = self.root / "database"
        self.storages = self.root / "storages"
        self.pilots = self.root / "pilots"
        self.logs = self.root / "logs"
        self._state = self.root / "system.json"
        self._lock = FileLock(self.root / "lock")

    def open(self) -> None:
        """Takes the folder for this process; raises ``HomeBusy`` when another one has it."""
        for folder in (self.root, self.storages, self.pilots, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise HomeBusy(self.root, self.running()) from None
        self._state.unlink(missing_ok=True)

    def close(self) -> None:
        self._state.unlink(missing_ok=True)
        self._lock.release()

    def announce(self, running: RunningSystem) -> None:
        """Says that the system is ready: from here on ``running()`` finds it."""
        with tempfile.NamedTemporaryFile("w", dir=self.root, delete=False) as file:
            json.dump(asdict(running), file)
        os.replace(file.name, self._state)

    def running(self) -> RunningSystem | None:
        """The system that is up and ready in this folder, if there is one."""
        try:
            running = RunningSystem(**json.loads(self._state.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return running if lives(running.pid) else None
