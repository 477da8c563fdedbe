"""Keep and restore checkpoints of the attempts at one job, without running a tool."""

import os
from pathlib import Path

from pilot.folders.work_folder import OpenFolder
from pilot.runner.attempts.checkpoints import Checkpoints
from sluice.contracts.jobs.checkpoints import Checkpoint
from tests.unit.pilot.builders import SHA, make_job, make_task, write_input

#: The maximum size of a checkpoint in bytes.
LIMIT = 1_000


class StandaloneAttempt:
    """An attempt in a new job folder. ``store`` is the folder of the storage. Logs go to ``logs``
    in it."""

    def __init__(
        self,
        store: Path,
        number: int,
        *,
        files: tuple[str, ...] = ("state/*",),
        seq: int = 7,
        limit: int = LIMIT,
    ) -> None:
        self.folder = store.parent / f"job-{seq}-{number}"
        for name in ("out", "tmp"):
            (self.folder / name).mkdir(parents=True)
        self.out = self.folder / "out"
        self.notes: list[str] = []
        task_ = make_task(store, SHA, checkpoint=Checkpoint(files=list(files), every=86_400))
        job_ = make_job(task_, [write_input(store / "in" / "a.dat")], attempt=number, seq=seq)
        self.checkpoints = Checkpoints(task_, job_, limit=limit, note=self.notes.append)

    def write_file(self, path: str, data: bytes | str) -> None:
        """Write a whole file by a rename."""
        place = self.out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(".new")
        new.write_bytes(data if isinstance(data, bytes) else data.encode())
        new.replace(place)

    def keep_checkpoint(self) -> None:
        """Keep a checkpoint now if a file has changed."""
        descriptor = os.open(self.folder, os.O_PATH)
        try:
            self.checkpoints.begin(OpenFolder(str(self.folder), descriptor))
            self.checkpoints.end(last=True)
        finally:
            os.close(descriptor)

    def restore_checkpoint(self) -> dict[str, str]:
        """Restore the checkpoint and return the content of each file by its path."""
        self.checkpoints.restore_newest(str(self.folder), lambda: None)
        return {
            str(path.relative_to(self.out)): path.read_text()
            for path in self.out.rglob("*")
            if path.is_file()
        }


def list_log_files(store: Path) -> list[str]:
    """Return the names of the files in the folder of the logs."""
    return sorted(path.name for path in (store / "logs").iterdir())
