"""Attempts at one job, of whose files checkpoints are kept, without a tool."""

import os
from pathlib import Path

from pilot.folders.work_folder import OpenFolder
from pilot.runner.attempts.checkpoints import Checkpoints
from sluice.contracts.checkpoints import Checkpoint
from tests.unit.pilot.builders import SHA, input_file, job, task

#: Bytes of all files of a checkpoint that the attempts here may keep.
LIMIT = 1_000


class AttemptAlone:
    """``store``: folder of the storage; logs go to ``logs`` in it. The job's folder is a new
    one."""

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
        task_ = task(store, SHA, checkpoint=Checkpoint(files=list(files), every=86_400))
        job_ = job(task_, [input_file(store / "in" / "a.dat")], attempt=number, seq=seq)
        self.checkpoints = Checkpoints(task_, job_, limit=limit, note=self.notes.append)

    def write(self, path: str, data: bytes | str) -> None:
        """Whole, by rename."""
        place = self.out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(".new")
        new.write_bytes(data if isinstance(data, bytes) else data.encode())
        new.replace(place)

    def keep(self) -> None:
        """A checkpoint, now, if anything has changed."""
        descriptor = os.open(self.folder, os.O_PATH)
        try:
            self.checkpoints.begin(OpenFolder(str(self.folder), descriptor))
            self.checkpoints.end(last=True)
        finally:
            os.close(descriptor)

    def go_on(self) -> dict[str, str]:
        """What its tool begins with: content by path."""
        self.checkpoints.put_in_place(str(self.folder), lambda: None)
        return {
            str(path.relative_to(self.out)): path.read_text()
            for path in self.out.rglob("*")
            if path.is_file()
        }


def kept(store: Path) -> list[str]:
    """Names of what lies beside the logs."""
    return sorted(path.name for path in (store / "logs").iterdir())
