"""The one folder of an embedded system: its database, storages, pilots' work, logs, and who is
running it."""

import fcntl
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from sluice.contracts.states import StorageType
from sluice.credentials import know_token
from sluice.servicekit.processes import lives

#: The folder where nobody names another.
DEFAULT_HOME = Path("~/.local/share/sluice")
#: What a new folder lets others do: nothing. Where others are to read results, its owner says so.
PRIVATE = 0o700
#: Seconds to wait for the folder: others look who has it.
_PATIENCE = 0.5


class HomeBusy(OSError):
    """Another process runs the system in this folder."""

    def __init__(self, home: Path, owner: "RunningSystem | None") -> None:
        match owner:
            case None:
                found = "a system already runs"
            case RunningSystem(url=""):
                found = f"a system (process {owner.pid}) is starting"
            case _:
                found = f"a system already runs at {owner.url} (process {owner.pid})"
        super().__init__(
            f"{home}: {found}; use it, stop it with `sluice down`, or choose another --home"
        )
        self.home = home
        self.owner = owner


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """Who runs the system of a home folder, and where it answers; ``url``: empty until it does."""

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
        #: With it, secrets of tools can be read: no backup of the rest needs to have it.
        self.encryption_key = self.root / "encryption-key"
        #: By which one is known as who runs the system. Removed, it is made anew by the next start.
        self.token = self.root / "token"
        #: With which pilots of this machine register; likewise.
        self.pilot_token = self.root / "pilot-token"
        self._state = self.root / "system.json"
        self._lock = FileLock(self.root / "lock")

    def storage(self, kind: StorageType) -> Path:
        return self.storages / kind.value

    def open(self) -> None:
        """Takes the folder for this process; raises ``HomeBusy`` when another one has it."""
        self.root.mkdir(parents=True, exist_ok=True)
        for folder in (self.storages, self.pilots, self.logs):
            folder.mkdir(mode=PRIVATE, exist_ok=True)
        for kind in StorageType:
            self.storage(kind).mkdir(exist_ok=True)
        try:
            self._lock.acquire(timeout=_PATIENCE)
        except Timeout:
            raise HomeBusy(self.root, self.owner()) from None
        self.announce("")

    def close(self) -> None:
        """Repeating it is fine."""
        if self._lock.is_locked:
            self._state.unlink(missing_ok=True)
            self._lock.release()

    def announce(self, url: str) -> None:
        """Says where this process's system answers: from here on ``running()`` finds it."""
        state = RunningSystem(os.getpid(), url, datetime.now(UTC).isoformat(timespec="seconds"))
        with tempfile.NamedTemporaryFile("w", dir=self.root, delete=False) as file:
            json.dump(asdict(state), file)
        os.replace(file.name, self._state)
        if url:
            know_token(url, self.token)

    def owner(self) -> RunningSystem | None:
        """The process that has this folder, if there is one: its system starts, runs or stops."""
        try:
            owner = RunningSystem(**json.loads(self._state.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return owner if lives(owner.pid) and self._is_taken() else None

    def running(self) -> RunningSystem | None:
        """The system that is up and ready in this folder, if there is one. Whoever asks it from
        this process from now on knows its token."""
        owner = self.owner()
        if owner is None or not owner.url:
            return None
        know_token(owner.url, self.token)
        return owner

    def _is_taken(self) -> bool:
        """A killed system's state stays, and its id may be another process's by now; its lock has
        gone with it."""
        if self._lock.is_locked:
            return True
        try:
            lock = os.open(self._lock.lock_file, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # where the file system knows no locks, too
            return True
        finally:
            os.close(lock)
        return False
