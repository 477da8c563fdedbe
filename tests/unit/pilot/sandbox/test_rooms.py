"""Programs in a sandbox, one after the other: what they share, and when they share no more."""

import os
import shutil
import signal
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.node.sandboxes import find_sandbox
from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.sandbox.sandbox_instance import SandboxedProgram, SandboxError, SandboxInstance
from pilot.sandbox.view import View, VisibleFile
from tests.needs import DEVICE, find_device
from tests.unit.pilot.attempts import python, run
from tests.unit.pilot.builders import input_file, task
from tests.unit.pilot.sandboxes import found_sandbox
from tests.unit.pilot.slot_runner import Runner

#: Says which room it is in: by the time at which what holds the sandbox was started, and the number
#: of its thread that has started the program. (Numbers of namespaces that are gone are given to
#: others.)
_ROOM = """
import os
print(open('/proc/1/stat').read().split()[21], max(map(int, os.listdir('/proc/1/task'))))
"""


class _Programs:
    """That run in one sandbox, in ``folder``."""

    def __init__(self, folder: Path, gets: SandboxOptions, sandbox: Sandbox | None = None) -> None:
        self.folder = folder
        self.held = SandboxInstance(sandbox or found_sandbox(), [str(folder)], gets)
        self.view = View([VisibleFile(str(folder), str(folder), writable=True)])
        self.stdin = os.devnull

    def say(self, code: str) -> str:
        """What the program prints."""
        with open(self.folder / "said", "w+b") as said:
            streams = [said.fileno(), said.fileno()]
            command = [sys.executable, "-I", "-S", "-c", code]
            status = self.start(command, streams, folder=str(self.folder)).end().status
            said.seek(0)
            text = said.read().decode().strip()
        assert status == 0, text
        return text

    def start(self, command: list[str], streams: list[int], *, folder: str) -> SandboxedProgram:
        return self.held.start(
            command,
            environment={"PATH": os.environ["PATH"]},
            folder=folder,
            streams=streams,
            limits=ProcessLimits(),
            view=self.view,
            stdin=self.stdin,
        )

    def room(self) -> str:
        return self.say(_ROOM)


@pytest.fixture
def gets() -> SandboxOptions:
    return SandboxOptions()


@pytest.fixture
def programs(tmp_path: Path, gets: SandboxOptions) -> Iterator[_Programs]:
    folder = tmp_path / "job"
    folder.mkdir()
    programs = _Programs(folder, gets)
    yield programs
    programs.held.close()


def test_programs_of_one_view_share_a_room(programs: _Programs) -> None:
    assert programs.room() == programs.room()


@pytest.mark.parametrize(
    "code",
    [
        "open('/dev/shm/left', 'w')",
        "import os; open('/dev/shm/left', 'w'); os.unlink('/dev/shm/left')",
        "import os; os.chmod('/dev/shm', 0o700)",
        "import os; os.utime('/dev/shm', (1, 2))",
    ],
)
def test_none_follows_one_that_wrote_to_shared_memory(programs: _Programs, code: str) -> None:
    before = programs.room()
    programs.say(code)
    assert programs.room() != before


@pytest.mark.parametrize(
    "code",
    [
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname())",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))",
        "socket.socket(socket.AF_INET).connect_ex(('10.1.2.3', 9))",
        "socket.socket(socket.AF_INET6).connect_ex(('fd00::1', 9))",
        # A label of a flow that is kept for 30 s; see IPV6_FLOWLABEL_MGR in linux/in6.h.
        "socket.socket(socket.AF_INET6).setsockopt(socket.IPPROTO_IPV6, 32, struct.pack("
        "'16s4sBBHHHI', socket.inet_pton(socket.AF_INET6, '::1'), bytes([0, 0, 0, 7]),"
        "0, 255, 1, 0, 30, 0))",
    ],
    ids=["connection", "datagram", "in vain", "in vain by IPv6", "label"],
)
def test_none_follows_one_that_used_the_network(programs: _Programs, code: str) -> None:
    """What the kernel has counted there, and ports that it keeps for a while, are gone."""
    tell = "import os; print(os.readlink('/proc/self/ns/net'), open('/proc/net/dev').read())"
    before = programs.say(tell)
    assert programs.say(tell) == before
    programs.say(f"import socket, struct\n{code}")
    after = programs.say(tell)
    assert after.split()[0] != before.split()[0]
    assert after.split()[1:] == before.split()[1:]
    # There, too, are programs reached by others.
    programs.say(
        "import socket; server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname())"
    )


def test_a_folder_made_anew_is_seen(programs: _Programs) -> None:
    programs.room()
    programs.folder.rename(programs.folder.with_name("earlier"))
    programs.folder.mkdir()
    (programs.folder / "new").touch()
    assert "new" in programs.say("import os; print(os.listdir())")


def test_what_one_may_write_the_next_may_only_read(programs: _Programs, tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.touch()
    for writable in (True, False):
        programs.view = View(
            [programs.view.files[0], VisibleFile(str(file), str(file), writable=writable)]
        )
        assert programs.say(f"import os; print(os.access({str(file)!r}, os.W_OK))") == f"{writable}"


def test_a_file_that_takes_the_place_of_another_is_seen(
    programs: _Programs, tmp_path: Path
) -> None:
    """Also where the first is still there by another name."""
    file = tmp_path / "input"
    file.write_text("old")
    os.link(file, tmp_path / "kept")
    programs.view = View([*programs.view.files, VisibleFile(f"{file}", f"{file}")])
    code = f"print(open({str(file)!r}).read())"
    assert programs.say(code) == "old"
    (tmp_path / "next").write_text("new")
    (tmp_path / "next").rename(file)
    assert programs.say(code) == "new"


def test_folders_of_data_that_are_gone_are_missed_by_nobody(
    programs: _Programs, tmp_path: Path
) -> None:
    """Of data sets that are deleted while the holder knows them."""
    for name in ("first", "second", "third"):
        data = tmp_path / name / "data"
        data.parent.mkdir()
        data.write_text(name)
        programs.view = View([programs.view.files[0], VisibleFile(str(data), str(data))])
        assert programs.say(f"print(open({str(data)!r}).read())") == name
        shutil.rmtree(data.parent)
    programs.view = View([programs.view.files[0]])
    programs.held.close()
    assert programs.room()


def test_without_its_program_there_is_no_sandbox_and_no_fault_of_the_tool(tmp_path: Path) -> None:
    gone = found_sandbox().model_copy(update={"bubblewrap": str(tmp_path / "bwrap")})
    held = SandboxInstance(gone, [], SandboxOptions())
    with open(os.devnull, "r+b") as nothing, pytest.raises(SandboxError, match="bwrap: No such"):
        held.start(
            ["true"],
            environment={},
            folder="/",
            streams=[nothing.fileno()] * 2,
            limits=ProcessLimits(),
            view=View([]),
        )


@pytest.mark.parametrize("name", ["work", "link/work", "."])
def test_the_pilots_folder_is_hidden_wherever_it_lies(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a folder that tools see, and by whatever name the pilot knows it."""
    with TemporaryDirectory(dir="/var/tmp") as seen, TemporaryDirectory(dir="/var/tmp") as other:
        place = Path(seen) / ("." if name == "." else "work")
        place.mkdir(exist_ok=True)
        (place / "journal").write_text("hush")
        os.symlink(seen, Path(other) / "link")
        monkeypatch.chdir(other if name == "link/work" else seen)
        found = find_sandbox("required", Path(other) / "s", [Path(seen)], hidden=[Path(name)])
        assert isinstance(found, Sandbox)
        job = Path(other) / "job"
        job.mkdir()
        programs = _Programs(job, SandboxOptions(), found)
        assert programs.say(f"import os; print(os.path.exists({str(place / 'journal')!r}))") == (
            "False"
        )
        programs.held.close()


@pytest.mark.parametrize(
    "code",
    [
        "open('/proc/self/fd/0', 'r+b')",
        "os.utime(0, (1, 2))",
        "os.chmod(0, 0o666)",
        "os.setxattr(0, 'user.left', b'x')",
    ],
)
@pytest.mark.parametrize("of_the_job", [True, False])
def test_standard_input_is_read_and_left_as_it_is(
    programs: _Programs, tmp_path: Path, code: str, *, of_the_job: bool
) -> None:
    """A file of a storage, or the node's /dev/null: what is opened outside could be changed."""
    file = tmp_path / "input"
    file.write_text("data")
    programs.view = View([*programs.view.files, VisibleFile(str(file), str(file))])
    programs.stdin = str(file) if of_the_job else os.devnull
    tried = f"""
import os
try:
    {code}
except OSError as error:
    print(error.strerror, end=" ")
print(os.read(0, 4).decode())
"""
    said = programs.say(tried)
    if of_the_job:
        assert said == "Read-only file system data"
    else:
        assert said == "" if "open" in code else said.startswith(("Read-only", "Operation not"))


def test_no_program_confuses_the_first_process(programs: _Programs) -> None:
    """By signals, or by asking to be traced by it, which stops where others would end."""
    before = programs.room()
    assert programs.say("import os; os.kill(1, 2); print('went on')") == "went on"
    traced = "import ctypes, os; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 10)"
    with open(os.devnull, "r+b") as nothing:
        command = [sys.executable, "-I", "-S", "-c", traced]
        program = programs.start(command, [nothing.fileno()] * 2, folder=str(programs.folder))
        assert os.waitstatus_to_exitcode(program.end().status) == -signal.SIGKILL
    assert programs.room() == before


def test_after_one_that_cannot_be_started_others_can(programs: _Programs) -> None:
    programs.room()
    with open(os.devnull, "r+b") as nothing, pytest.raises(FileNotFoundError, match="no-such"):
        programs.start(["no-such-program"], [nothing.fileno()] * 3, folder=str(programs.folder))
    assert programs.room()


def test_where_there_is_no_folder_to_run_in_the_program_is_not_blamed(programs: _Programs) -> None:
    with open(os.devnull, "r+b") as nothing, pytest.raises(SandboxError, match="/no-such-folder: "):
        programs.start(["true"], [nothing.fileno()] * 3, folder="/no-such-folder")
    assert programs.room()


def test_a_sandbox_whose_holder_was_killed_is_made_again(programs: _Programs) -> None:
    programs.room()
    [holder] = programs.held.pids
    os.kill(holder, signal.SIGKILL)
    os.waitid(os.P_PID, holder, os.WEXITED | os.WNOWAIT)
    assert programs.room()
    assert programs.held.pids != {holder}


def test_what_belongs_to_others_is_unpacked(programs: _Programs) -> None:
    """By tar, which as root would give it to them."""
    with tarfile.open(programs.folder / "made.tar", "w") as made:
        entry = tarfile.TarInfo("theirs")
        entry.uid = entry.gid = 4711
        made.addfile(entry)
    assert programs.say("import os; print(os.system('tar xf made.tar'))") == "0"
    assert (programs.folder / "theirs").exists()


@pytest.mark.parametrize("name", ["pilot", ".pilot"])
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp"])
def test_jobs_of_a_slot_share_a_room_wherever_it_works(place: str, name: str, root: Path) -> None:
    """Else each of them costs twice as much. In two of the places the way to the slot's folder lies
    in a folder that the job writes to, and so does the one to a name of it that has no dot."""
    with TemporaryDirectory(dir=place) as folder:
        runner = Runner(Path(folder, name), settings={"sandbox": found_sandbox()})
        try:
            kind = task(root, python(_ROOM))
            reports = [
                run(runner, kind, [input_file(root / f"{number}.dat")], seq=number)
                for number in range(4)
            ]
        finally:
            runner.close()
            runner.run.delete()
    assert [report.message for report in reports] == [""] * 4
    told = [Path(report.outputs[0].url.removeprefix("file://")).read_text() for report in reports]
    # A room may be left on suspicion; what is never shared differs each time.
    assert len(set(told)) < len(told)


_DEVICE = find_device() or ""


@pytest.fixture
def device() -> str:
    if not _DEVICE:
        pytest.fail("no device that sandboxes lack can be opened here", pytrace=False)
    return _DEVICE


@pytest.mark.needs(DEVICE)
@pytest.mark.parametrize("gets", [SandboxOptions(devices=(_DEVICE,))])
def test_devices_of_gpus_can_be_used_and_stay_as_they_are(programs: _Programs, device: str) -> None:
    used = f"import os; print(os.open({device!r}, os.O_RDONLY | os.O_NONBLOCK) > 2)"
    assert programs.say(used) == "True"
    change = f"os.chmod({device!r}, stat.S_IMODE(os.stat({device!r}).st_mode))"
    with pytest.raises(AssertionError, match=r"Read-only|not permitted"):
        programs.say(f"import os, stat; {change}")


@pytest.mark.needs(DEVICE)
def test_devices_of_gpus_are_not_there_for_others(programs: _Programs, device: str) -> None:
    assert programs.say(f"import os; print(os.path.lexists({device!r}))") == "False"


_MANY_FILES = """
import os
written = 0
try:
    while written < 64:
        with open(f"/dev/shm/{written}", "wb") as file:
            file.write(bytes(1 << 20))
        written += 1
except OSError as error:
    print(written, error.strerror)
"""


def test_shared_memory_is_no_larger_than_it_is_to_be(programs: _Programs) -> None:
    """However many files it is in."""
    programs.view = View(programs.view.files, shared_memory=4 << 20)
    assert programs.say(_MANY_FILES) == "4 No space left on device"
