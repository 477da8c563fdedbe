"""A program in a sandbox that stays: its inputs change while it runs, and it stands still in
between."""

import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.sandbox import SandboxOptions
from pilot.sandbox.sandbox_instance import SandboxError
from pilot.sandbox.sandboxed_warm_worker import SandboxedWarmWorker, changing_folder
from pilot.sandbox.view import View, VisibleFile
from tests.unit.pilot.sandboxes import found_sandbox

#: Does what each line says, and answers with a line.
_OBEYS = """
import os, sys
for line in sys.stdin:
    try:
        print(eval(line), flush=True)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
"""


class Obeying:
    """``inputs``: files elsewhere that it sees first."""

    def __init__(self, folder: Path, inputs: list[str]) -> None:
        self.folder = folder / "job"
        sources = [str(self.folder), str(folder / "tmp")]
        for source in sources:
            os.mkdir(source)
        self.program = SandboxedWarmWorker(found_sandbox(), sources, SandboxOptions(), inputs)
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

    def say(self, code: str) -> str:
        self.send(code)
        return self.answer()

    def send(self, code: str) -> None:
        os.write(self._to, f"{code}\n".encode())

    def answer(self) -> str:
        text = b""
        while not text.endswith(b"\n"):
            text += os.read(self._from, 1 << 16) or b"(gone)\n"
        return text.decode().strip()

    def close(self) -> None:
        self.program.close()
        os.close(self._to)
        os.close(self._from)


@pytest.fixture
def place() -> Iterator[Path]:
    """Not in /dev/shm or /var/tmp, where a program sees its own files alone."""
    with TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def storage(place: Path) -> Path:
    """With two data sets of a file each."""
    for name in ("one", "two"):
        (place / "storage" / name).mkdir(parents=True)
        (place / "storage" / name / "file").write_text(name)
    return place / "storage"


@pytest.fixture
def obeying(place: Path, storage: Path) -> Iterator[Obeying]:
    program = Obeying(place, [f"{storage}/one/file"])
    yield program
    program.close()


def test_it_sees_the_inputs_of_its_job_and_no_other(obeying: Obeying, storage: Path) -> None:
    one, two = f"{storage}/one/file", f"{storage}/two/file"
    assert obeying.say(f"open({one!r}).read()") == "one"
    assert obeying.say(f"os.listdir({str(storage)!r})") == "['one']"
    assert obeying.program.show([two])
    assert obeying.say(f"open({two!r}).read()") == "two"
    assert obeying.say(f"os.listdir({str(storage)!r})") == "['two']"
    assert "FileNotFoundError" in obeying.say(f"open({one!r})")
    assert obeying.program.show([])
    assert obeying.say(f"os.listdir({str(storage)!r})") == "[]"
    assert obeying.say("os.listdir('/.changing')").startswith("PermissionError")


def test_it_writes_to_none_of_them(obeying: Obeying, storage: Path) -> None:
    for path in (f"{storage}/one/file", f"{storage}/two/file"):
        assert obeying.program.show([path])
        for code in (
            f"open({path!r}, 'w')",
            f"os.unlink({path!r})",
            f"os.chmod({path!r}, 0)",
            f"os.utime({path!r})",
            f"open({str(storage)!r} + '/new', 'w')",
            f"os.mkdir({os.path.dirname(path)!r} + '/new')",
        ):
            assert "Read-only file system" in obeying.say(code)
    assert (storage / "one" / "file").read_text() == "one"


def test_a_file_that_it_keeps_open_is_no_way_to_others(obeying: Obeying, storage: Path) -> None:
    one = f"{storage}/one/file"
    obeying.say(f"globals().update(kept=open({one!r}), way=os.open({str(storage)!r}, 0))")
    assert obeying.program.show([f"{storage}/two/file"])
    assert obeying.say("kept.read()") == "one"
    assert obeying.say("os.listdir(way)") == "['two']"
    assert "Errno" in obeying.say("os.open('one/file', os.O_RDONLY, dir_fd=way)")


def test_files_elsewhere_are_not_shown(obeying: Obeying, place: Path, storage: Path) -> None:
    (place / "other" / "data").mkdir(parents=True)
    (place / "other" / "data" / "file").write_text("other")
    assert not obeying.program.show([f"{place}/other/data/file"])
    with pytest.raises(SandboxError, match="No such file"):
        obeying.program.show([f"{storage}/one/gone"])


def test_between_its_jobs_it_stands_still_and_leaves_nothing(obeying: Obeying) -> None:
    """Not in shared memory, and no process that belongs to nobody."""
    assert obeying.say("open('/dev/shm/left', 'w').close()") == "None"
    assert obeying.say("os.makedirs('/dev/shm/folder/in/it')") == "None"
    obeying.send(
        "os.fork() or (os.fork() and os._exit(0)) or (open('ready', 'w').close(),"
        " __import__('signal').pause())"
    )
    while not (obeying.folder / "ready").exists():
        os.sched_yield()
    program = obeying.program.pid
    holder = int(Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[1])
    while len(children(holder)) != 2:  # it writes perhaps before its parent has ended
        os.sched_yield()
    obeying.program.pause()
    while children(holder) != [program]:
        os.sched_yield()
    assert state_of(program) == "T"
    obeying.send("os.listdir('/dev/shm')")
    obeying.program.resume()
    said = obeying.answer().split()
    while "[]" not in said:
        said += obeying.answer().split()


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
        int(one)
        for thread in os.listdir(f"/proc/{pid}/task")
        if thread != str(pid)
        for one in Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
    ]


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_its_end_is_seen_also_while_it_is_asked_for_something(
    obeying: Obeying, storage: Path
) -> None:
    obeying.send("os._exit(3)")
    select.select([obeying.program.running.descriptor], [], [])
    assert not obeying.program.show([f"{storage}/two/file"])
    assert os.waitstatus_to_exitcode(obeying.program.running.end().status) == 3


def test_it_can_be_ended_while_it_stands_still(obeying: Obeying) -> None:
    obeying.program.pause()
    obeying.program.running.signal(signal.SIGKILL)
    assert obeying.program.running.end().status == signal.SIGKILL


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
def test_the_folder_of_data_sets_changes_unless_anything_else_is_seen_in_it(
    path: str, folder: str | None
) -> None:
    places = ["/", "/usr", "/tmp", "/jobs/slot/in", "/jobs/slot/out"]
    assert changing_folder(path, places) == folder
