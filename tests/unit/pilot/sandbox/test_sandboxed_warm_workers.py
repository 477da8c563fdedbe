"""Tests of warm workers in a sandbox: their inputs change while they run, and they are paused
between jobs."""

import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import SandboxError
from pilot.isolation.sandbox.sandboxed_warm_worker import SandboxedWarmWorker, find_changing_folder
from pilot.isolation.sandbox.view import View, VisibleFile
from tests.unit.pilot.sandboxes import get_sandbox

#: Evaluates each line of its input and answers with a line.
_OBEYS = """
import os, sys
for line in sys.stdin:
    try:
        print(eval(line), flush=True)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
"""


class EvaluatingWorker:
    """A program that evaluates code in a sandbox. ``inputs`` are the files outside that it sees
    first."""

    def __init__(self, folder: Path, inputs: list[str]) -> None:
        self.folder = folder / "job"
        sources = [str(self.folder), str(folder / "tmp")]
        for source in sources:
            os.mkdir(source)
        self.program = SandboxedWarmWorker(get_sandbox(), sources, SandboxOptions(), inputs)
        (to, self._to), (self._from, back) = os.pipe(), os.pipe()
        self.program.start(
            [sys.executable, "-I", "-S", "-c", _OBEYS],
            environment={"PATH": os.environ["PATH"]},
            folder=sources[0],
            streams=[to, back, 2],
            limits=ProcessLimits(),
            view=View(
                [
                    VisibleFile("/tmp", sources[1], writable=True),
                    VisibleFile(sources[0], sources[0], writable=True),
                ]
            ),
        )
        os.close(to)
        os.close(back)

    def evaluate(self, code: str) -> str:
        self.send_code(code)
        return self.read_answer()

    def send_code(self, code: str) -> None:
        os.write(self._to, f"{code}\n".encode())

    def read_answer(self) -> str:
        text = b""
        while not text.endswith(b"\n"):
            text += os.read(self._from, 1 << 16) or b"(gone)\n"
        return text.decode().strip()

    def close(self) -> None:
        self.program.close()
        os.close(self._to)
        os.close(self._from)


@pytest.fixture
def private_folder() -> Iterator[Path]:
    """Make a folder outside /dev/shm and /var/tmp, where a program sees only its own files."""
    with TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def storage(private_folder: Path) -> Path:
    """Make a storage with two data sets of a file each."""
    for name in ("one", "two"):
        (private_folder / "storage" / name).mkdir(parents=True)
        (private_folder / "storage" / name / "file").write_text(name)
    return private_folder / "storage"


@pytest.fixture
def worker(private_folder: Path, storage: Path) -> Iterator[EvaluatingWorker]:
    program = EvaluatingWorker(private_folder, [f"{storage}/one/file"])
    yield program
    program.close()


def test_warm_worker_sees_only_the_inputs_of_its_current_job(
    worker: EvaluatingWorker, storage: Path
) -> None:
    one, two = f"{storage}/one/file", f"{storage}/two/file"
    assert worker.evaluate(f"open({one!r}).read()") == "one"
    assert worker.evaluate(f"os.listdir({str(storage)!r})") == "['one']"
    assert worker.program.show([two])
    assert worker.evaluate(f"open({two!r}).read()") == "two"
    assert worker.evaluate(f"os.listdir({str(storage)!r})") == "['two']"
    assert "FileNotFoundError" in worker.evaluate(f"open({one!r})")
    assert worker.program.show([])
    assert worker.evaluate(f"os.listdir({str(storage)!r})") == "[]"
    assert worker.evaluate("os.listdir('/.changing')").startswith("PermissionError")


def test_warm_worker_cannot_write_to_its_inputs(worker: EvaluatingWorker, storage: Path) -> None:
    for path in (f"{storage}/one/file", f"{storage}/two/file"):
        assert worker.program.show([path])
        for code in (
            f"open({path!r}, 'w')",
            f"os.unlink({path!r})",
            f"os.chmod({path!r}, 0)",
            f"os.utime({path!r})",
            f"open({str(storage)!r} + '/new', 'w')",
            f"os.mkdir({os.path.dirname(path)!r} + '/new')",
        ):
            assert "Read-only file system" in worker.evaluate(code)
    assert (storage / "one" / "file").read_text() == "one"


def test_open_descriptor_does_not_give_access_to_inputs_of_another_job(
    worker: EvaluatingWorker, storage: Path
) -> None:
    one = f"{storage}/one/file"
    worker.evaluate(f"globals().update(kept=open({one!r}), way=os.open({str(storage)!r}, 0))")
    assert worker.program.show([f"{storage}/two/file"])
    assert worker.evaluate("kept.read()") == "one"
    assert worker.evaluate("os.listdir(way)") == "['two']"
    assert "Errno" in worker.evaluate("os.open('one/file', os.O_RDONLY, dir_fd=way)")


def test_files_outside_the_storage_are_not_shown(
    worker: EvaluatingWorker, private_folder: Path, storage: Path
) -> None:
    (private_folder / "other" / "data").mkdir(parents=True)
    (private_folder / "other" / "data" / "file").write_text("other")
    assert not worker.program.show([f"{private_folder}/other/data/file"])
    with pytest.raises(SandboxError, match="No such file"):
        worker.program.show([f"{storage}/one/gone"])


def test_pause_stops_the_worker_and_clears_shared_memory_and_orphans(
    worker: EvaluatingWorker,
) -> None:
    assert worker.evaluate("open('/dev/shm/left', 'w').close()") == "None"
    assert worker.evaluate("os.makedirs('/dev/shm/folder/in/it')") == "None"
    worker.send_code(
        "os.fork() or (os.fork() and os._exit(0)) or (open('ready', 'w').close(),"
        " __import__('signal').pause())"
    )
    while not (worker.folder / "ready").exists():
        os.sched_yield()
    program = worker.program.pid
    holder = int(Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[1])
    while len(list_children(holder)) != 2:  # It may write before its parent has ended.
        os.sched_yield()
    worker.program.pause()
    while list_children(holder) != [program]:
        os.sched_yield()
    assert get_state(program) == "T"
    worker.send_code("os.listdir('/dev/shm')")
    worker.program.resume()
    answer_words = worker.read_answer().split()
    while "[]" not in answer_words:
        answer_words += worker.read_answer().split()


def list_children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
        int(one)
        for thread in os.listdir(f"/proc/{pid}/task")
        if thread != str(pid)
        for one in Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
    ]


def get_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_end_of_the_worker_is_noticed_while_inputs_are_shown(
    worker: EvaluatingWorker, storage: Path
) -> None:
    worker.send_code("os._exit(3)")
    select.select([worker.program.running.descriptor], [], [])
    assert not worker.program.show([f"{storage}/two/file"])
    assert os.waitstatus_to_exitcode(worker.program.running.end().status) == 3


def test_paused_worker_can_be_killed(worker: EvaluatingWorker) -> None:
    worker.program.pause()
    worker.program.running.signal(signal.SIGKILL)
    assert worker.program.running.end().status == signal.SIGKILL


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/data/store/set/file", "/data/store"),
        ("/data/set/file", "/data/set"),
        ("/tmp/x/set/file", "/tmp/x"),
        ("/tmp/set/file", "/tmp/set"),
        ("/data/file", None),
        ("/usr/share/data/set/file", None),
        ("/jobs/slot/kept/file", "/jobs/slot/kept"),
        ("/jobs/slot/in/file", None),
    ],
)  # fmt: skip
def test_changing_folder_holds_data_sets_and_no_other_visible_path(
    path: str, folder: str | None
) -> None:
    places = ["/", "/usr", "/tmp", "/jobs/slot/in", "/jobs/slot/out"]
    assert find_changing_folder(path, places) == folder
