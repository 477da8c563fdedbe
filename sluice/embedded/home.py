"""The home folder of an embedded system: its database, storages, pilots, logs and state."""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from sluice.contracts.common.states import StorageType
from sluice.network.credentials import know_token
from sluice.servicekit.running.processes import lives

#: The default folder.
DEFAULT_HOME = Path("~/.local/share/sluice")
#: The mode of a new folder. Its owner may open it to others.
PRIVATE = 0o700
#: The file in a home folder that the process of its system locks.
LOCK = "lock"
#: The error if another process holds the lock.
LOCKED = (
    "no system runs here, but a process that is not a system has locked {0}: find it with"
    " `fuser --verbose {0}` and end it, or choose another --home"
)
#: This file shows that folders which release 0.1.0 left open have been closed once. Folders that
#: the owner opens later stay open.
_CLOSED_MARKER = "closed-to-others"
#: Seconds to wait for the lock, because others test it.
_LOCK_TIMEOUT = 0.5


class HomeInUse(OSError):
    """Another process runs the system in this folder."""

    def __init__(self, home: Path, owner: "RunningSystem | None") -> None:
        if owner is None:
            super().__init__(f"{home}: {LOCKED.format(home / LOCK)}")
            return
        match owner:
            case RunningSystem(url=""):
                description = f"a system (process {owner.pid}) is starting"
            case _:
                description = f"a system already runs at {owner.url} (process {owner.pid})"
        super().__init__(
            f"{home}: {description}; use it, stop it with `sluice down`, or choose another --home"
        )


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """The process that runs the system of a home folder, and its address.

    ``url`` is empty until the system answers.
    """

    pid: int
    url: str
    started_at: str


class Home:
    """A home folder, which is created if it is missing. All paths are absolute."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.database = self.root / "database"
        self.storages = self.root / "storages"
        self.pilots = self.root / "pilots"
        self.logs = self.root / "logs"
        #: The key of the tools' secrets. A backup of the rest can do without it.
        self.encryption_key = self.root / "encryption-key"
        #: The token of the user who runs the system. If it is removed, the next start makes a new
        #: one.
        self.token = self.root / "token"
        #: The token with which pilots of this machine register. It is replaced in the same way.
        self.pilot_token = self.root / "pilot-token"
        #: Reserves space on the file system for the database.
        self.reserve = self.root / "reserve"
        self._state = self.root / "system.json"
        #: Locked by the users of a system that runs as long as it is used.
        self.users = self.root / "users"
        # Every user who can open the file can lock it.
        self._lock = FileLock(self.root / LOCK, mode=0o600)
        self._own_lock: os.stat_result | None = None

    def storage(self, kind: StorageType) -> Path:
        """Return the folder of the storage of a type."""
        return self.storages / kind.value

    def open(self) -> None:
        """Take the folder for this process.

        Raises:
            HomeInUse: Another process has it.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        lock = self.root / LOCK
        if lock.exists() and lock.stat().st_uid == os.geteuid():
            lock.chmod(0o600)  # releases before 0.2.0 let others open it
        try:
            self._lock.acquire(timeout=_LOCK_TIMEOUT)
        except Timeout:
            raise HomeInUse(self.root, self.owner()) from None
        self._own_lock = lock.stat()
        self._make_folders()
        self.announce("")

    def _make_folders(self) -> None:
        """Make missing folders, and close those that release 0.1.0 left open for everybody."""
        for folder in (self.storages, self.pilots, self.logs):
            folder.mkdir(mode=PRIVATE, exist_ok=True)
        for kind in StorageType:
            self.storage(kind).mkdir(exist_ok=True)
        closed = self.root / _CLOSED_MARKER
        if not closed.exists():
            for folder in (self.storages, self.pilots, self.logs):
                if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                    folder.chmod(PRIVATE)
            closed.touch(mode=0o600)

    def is_in_place(self) -> bool:
        """Return whether the folder that this process has taken is still in its place."""
        try:
            now = (self.root / LOCK).stat()
        except OSError:
            return False
        return self._own_lock is not None and os.path.samestat(now, self._own_lock)

    def close(self) -> None:
        """Release the folder. A repetition has no effect."""
        if self._lock.is_locked:
            self._state.unlink(missing_ok=True)
            self._lock.release()

    def announce(self, url: str) -> None:
        """Record the address of this process's system, so that ``running()`` finds it."""
        state = RunningSystem(os.getpid(), url, datetime.now(UTC).isoformat(timespec="seconds"))
        fresh = self._state.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(asdict(state)))
        os.replace(fresh, self._state)
        if url:
            know_token(url, self.token)

    def owner(self) -> RunningSystem | None:
        """Return the process that has this folder, or None. Its system starts, runs or stops."""
        try:
            owner = RunningSystem(**json.loads(self._state.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return owner if lives(owner.pid) and self._is_locked() else None

    def running(self) -> RunningSystem | None:
        """Return the system that is ready in this folder, or None.

        Later requests of this process to the system use its token.
        """
        owner = self.owner()
        if owner is None or not owner.url:
            return None
        know_token(owner.url, self.token)
        return owner

    def is_locked_by_another(self) -> bool:
        """Return whether a process that is no Sluice system holds the lock."""
        return self.owner() is None and self._is_locked()

    def _is_locked(self) -> bool:
        """Return whether the lock is held.

        The state of a killed system stays, and another process may have its id by now. The lock
        does not outlive the process.
        """
        if self._lock.is_locked:
            return True
        try:
            lock = os.open(self._lock.lock_file, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # also where the file system has no locks
            return True
        finally:
            os.close(lock)
        return False
