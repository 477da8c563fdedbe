"""The one folder of an embedded system: its database, storages, pilots' work, logs, and who is
running it.
"""

import fcntl
import json
import os
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
#: The file in a home folder that the process of its system locks.
LOCK = "lock"
#: What is wrong where another process holds it.
LOCKED = (
    "no system runs here, but a process that is no system has locked {0}: find it with"
    " `fuser --verbose {0}` and end it, or choose another --home"
)
#: Says that no folder is open any more as release 0.1.0 left it. Who opens one later means it.
_CLOSED = "closed-to-others"
#: Seconds to wait for the folder: others look who has it.
_PATIENCE = 0.5


class HomeBusy(OSError):
    """Another process runs the system in this folder."""

    def __init__(self, home: Path, owner: "RunningSystem | None") -> None:
        if owner is None:
            super().__init__(f"{home}: {LOCKED.format(home / LOCK)}")
            return
        match owner:
            case RunningSystem(url=""):
                found = f"a system (process {owner.pid}) is starting"
            case _:
                found = f"a system already runs at {owner.url} (process {owner.pid})"
        super().__init__(
            f"{home}: {found}; use it, stop it with `sluice down`, or choose another --home"
        )


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
        #: Keeps some room on the file system for the database.
        self.reserve = self.root / "reserve"
        self._state = self.root / "system.json"
        #: Locked by those who use a system that runs as long as it is used.
        self.users = self.root / "users"
        # Who can open the file can lock it.
        self._lock = FileLock(self.root / LOCK, mode=0o600)
        self._own_lock: os.stat_result | None = None

    def storage(self, kind: StorageType) -> Path:
        return self.storages / kind.value

    def open(self) -> None:
        """Take the folder for this process; raise ``HomeBusy`` when another one has it."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock = self.root / LOCK
        if lock.exists() and lock.stat().st_uid == os.geteuid():
            lock.chmod(0o600)  # releases before 0.2.0 let others open it
        try:
            self._lock.acquire(timeout=_PATIENCE)
        except Timeout:
            raise HomeBusy(self.root, self.owner()) from None
        self._own_lock = lock.stat()
        self._make_folders()
        self.announce("")

    def _make_folders(self) -> None:
        """Make what is missing, and close what release 0.1.0 left open for everybody."""
        for folder in (self.storages, self.pilots, self.logs):
            folder.mkdir(mode=PRIVATE, exist_ok=True)
        for kind in StorageType:
            self.storage(kind).mkdir(exist_ok=True)
        closed = self.root / _CLOSED
        if not closed.exists():
            for folder in (self.storages, self.pilots, self.logs):
                if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                    folder.chmod(PRIVATE)
            closed.touch(mode=0o600)

    def is_in_place(self) -> bool:
        """Return whether the folder that this process has taken is still where it was."""
        try:
            now = (self.root / LOCK).stat()
        except OSError:
            return False
        return self._own_lock is not None and os.path.samestat(now, self._own_lock)

    def close(self) -> None:
        """Repeating it is fine."""
        if self._lock.is_locked:
            self._state.unlink(missing_ok=True)
            self._lock.release()

    def announce(self, url: str) -> None:
        """Says where this process's system answers: from here on ``running()`` finds it."""
        state = RunningSystem(os.getpid(), url, datetime.now(UTC).isoformat(timespec="seconds"))
        fresh = self._state.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(asdict(state)))
        os.replace(fresh, self._state)
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
        this process from now on knows its token.
        """
        owner = self.owner()
        if owner is None or not owner.url:
            return None
        know_token(owner.url, self.token)
        return owner

    def is_locked_by_another(self) -> bool:
        """Return whether a process that is no system holds the lock."""
        return self.owner() is None and self._is_taken()

    def _is_taken(self) -> bool:
        """A killed system's state stays, and its id may be another process's by now; its lock has
        gone with it.
        """
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
