"""Tests of which programs share one instance of a sandbox, and of when an instance is replaced."""

import os
import shutil
import signal
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.isolation.node.sandboxes import find_sandbox
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import SandboxedProgram, SandboxError, SandboxInstance
from pilot.isolation.sandbox.view import View, VisibleFile
from tests.needs import DEVICE, find_device
from tests.unit.pilot.attempts import make_python_tool, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

#: Identifies the instance by the start time of the holder of the sandbox and by the number of the
#: thread that has started the program. (Numbers of namespaces are used again.)
_MOUNTS = """
import os
print(open('/proc/1/stat').read().split()[21], max(map(int, os.listdir('/proc/1/task'))))
"""


class _Programs:
    """Run programs in one sandbox, in ``folder``."""

    def __init__(
        self, folder: Path, sandbox_options: SandboxOptions, sandbox: Sandbox | None = None
    ) -> None:
        self.folder = folder
        self.instance = SandboxInstance(sandbox or get_sandbox(), [str(folder)], sandbox_options)
        self.view = View([VisibleFile(str(folder), str(folder), writable=True)])
        self.stdin = os.devnull

    def run_code(self, code: str) -> str:
        """Return the output of the program."""
        with open(self.folder / "said", "w+b") as output_file:
            streams = [output_file.fileno(), output_file.fileno()]
            command = [sys.executable, "-I", "-S", "-c", code]
            status = self.start_program(command, streams, folder=str(self.folder)).end().status
            output_file.seek(0)
            text = output_file.read().decode().strip()
        assert status == 0, text
        return text

    def start_program(
        self, command: list[str], streams: list[int], *, folder: str
    ) -> SandboxedProgram:
        return self.instance.start(
            command,
            environment={"PATH": os.environ["PATH"]},
            folder=folder,
            streams=streams,
            limits=ProcessLimits(),
            view=self.view,
            stdin=self.stdin,
        )

    def list_mounts(self) -> str:
        return self.run_code(_MOUNTS)


@pytest.fixture
def sandbox_options() -> SandboxOptions:
    return SandboxOptions()


@pytest.fixture
def programs(tmp_path: Path, sandbox_options: SandboxOptions) -> Iterator[_Programs]:
    folder = tmp_path / "job"
    folder.mkdir()
    programs = _Programs(folder, sandbox_options)
    yield programs
    programs.instance.close()


def test_programs_with_the_same_view_share_an_instance(programs: _Programs) -> None:
    assert programs.list_mounts() == programs.list_mounts()


@pytest.mark.parametrize(
    "code",
    [
        "open('/dev/shm/left', 'w')",
        "import os; open('/dev/shm/left', 'w'); os.unlink('/dev/shm/left')",
        "import os; os.chmod('/dev/shm', 0o700)",
        "import os; os.utime('/dev/shm', (1, 2))",
    ],
)
def test_instance_is_replaced_after_a_program_wrote_to_shared_memory(
    programs: _Programs, code: str
) -> None:
    before = programs.list_mounts()
    programs.run_code(code)
    assert programs.list_mounts() != before


@pytest.mark.parametrize(
    "code",
    [
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname())",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))",
        "socket.socket(socket.AF_INET).connect_ex(('10.1.2.3', 9))",
        "socket.socket(socket.AF_INET6).connect_ex(('fd00::1', 9))",
        # A flow label that lasts for 30 s. See IPV6_FLOWLABEL_MGR in linux/in6.h.
        "socket.socket(socket.AF_INET6).setsockopt(socket.IPPROTO_IPV6, 32, struct.pack("
        "'16s4sBBHHHI', socket.inet_pton(socket.AF_INET6, '::1'), bytes([0, 0, 0, 7]),"
        "0, 255, 1, 0, 30, 0))",
    ],
    ids=["connection", "datagram", "in vain", "in vain by IPv6", "label"],
)
def test_instance_is_replaced_after_a_program_used_the_network(
    programs: _Programs, code: str
) -> None:
    """The counters of the kernel and ports that it reserves for a while are gone."""
    tell = "import os; print(os.readlink('/proc/self/ns/net'), open('/proc/net/dev').read())"
    before = programs.run_code(tell)
    assert programs.run_code(tell) == before
    programs.run_code(f"import socket, struct\n{code}")
    after = programs.run_code(tell)
    assert after.split()[0] != before.split()[0]
    assert after.split()[1:] == before.split()[1:]
    # Programs can connect to each other in the new instance, too.
    programs.run_code(
        "import socket; server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname())"
    )


def test_folder_that_was_replaced_is_visible(programs: _Programs) -> None:
    programs.list_mounts()
    programs.folder.rename(programs.folder.with_name("earlier"))
    programs.folder.mkdir()
    (programs.folder / "new").touch()
    assert "new" in programs.run_code("import os; print(os.listdir())")


def test_file_that_one_program_may_write_can_be_read_only_for_the_next(
    programs: _Programs, tmp_path: Path
) -> None:
    file = tmp_path / "input"
    file.touch()
    for writable in (True, False):
        programs.view = View(
            [programs.view.files[0], VisibleFile(str(file), str(file), writable=writable)]
        )
        assert (
            programs.run_code(f"import os; print(os.access({str(file)!r}, os.W_OK))")
            == f"{writable}"
        )


def test_file_that_was_replaced_is_visible(programs: _Programs, tmp_path: Path) -> None:
    """The old file still exists under another name."""
    file = tmp_path / "input"
    file.write_text("old")
    os.link(file, tmp_path / "kept")
    programs.view = View([*programs.view.files, VisibleFile(f"{file}", f"{file}")])
    code = f"print(open({str(file)!r}).read())"
    assert programs.run_code(code) == "old"
    (tmp_path / "next").write_text("new")
    (tmp_path / "next").rename(file)
    assert programs.run_code(code) == "new"


def test_deleted_data_sets_do_not_break_the_sandbox(programs: _Programs, tmp_path: Path) -> None:
    """The holder still knows the deleted folders."""
    for name in ("first", "second", "third"):
        data = tmp_path / name / "data"
        data.parent.mkdir()
        data.write_text(name)
        programs.view = View([programs.view.files[0], VisibleFile(str(data), str(data))])
        assert programs.run_code(f"print(open({str(data)!r}).read())") == name
        shutil.rmtree(data.parent)
    programs.view = View([programs.view.files[0]])
    programs.instance.close()
    assert programs.list_mounts()


def test_missing_bubblewrap_is_a_sandbox_error(tmp_path: Path) -> None:
    missing_sandbox = get_sandbox().model_copy(update={"bubblewrap": str(tmp_path / "bwrap")})
    instance = SandboxInstance(missing_sandbox, [], SandboxOptions())
    with open(os.devnull, "r+b") as nothing, pytest.raises(SandboxError, match="bwrap: No such"):
        instance.start(
            ["true"],
            environment={},
            folder="/",
            streams=[nothing.fileno()] * 2,
            limits=ProcessLimits(),
            view=View([]),
        )


@pytest.mark.parametrize("name", ["work", "link/work", "."])
def test_folder_of_the_pilot_is_hidden_wherever_it_lies(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may lie in a folder that tools see, and the pilot may know it by another name."""
    with (
        TemporaryDirectory(dir="/var/tmp") as visible_folder,
        TemporaryDirectory(dir="/var/tmp") as other,
    ):
        place = Path(visible_folder) / ("." if name == "." else "work")
        place.mkdir(exist_ok=True)
        (place / "journal").write_text("hush")
        os.symlink(visible_folder, Path(other) / "link")
        monkeypatch.chdir(other if name == "link/work" else visible_folder)
        sandbox = find_sandbox(
            "required", Path(other) / "s", [Path(visible_folder)], hidden_paths=[Path(name)]
        )
        assert isinstance(sandbox, Sandbox)
        job = Path(other) / "job"
        job.mkdir()
        programs = _Programs(job, SandboxOptions(), sandbox)
        assert programs.run_code(
            f"import os; print(os.path.exists({str(place / 'journal')!r}))"
        ) == ("False")
        programs.instance.close()


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
def test_program_can_read_standard_input_and_cannot_change_it(
    programs: _Programs, tmp_path: Path, code: str, *, of_the_job: bool
) -> None:
    """It is a file of a storage or /dev/null of the node."""
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
    output = programs.run_code(tried)
    if of_the_job:
        assert output == "Read-only file system data"
    else:
        assert output == "" if "open" in code else output.startswith(("Read-only", "Operation not"))


def test_signals_and_ptrace_do_not_disturb_the_first_process(programs: _Programs) -> None:
    """A traced program stops where others would end."""
    before = programs.list_mounts()
    assert programs.run_code("import os; os.kill(1, 2); print('went on')") == "went on"
    traced = "import ctypes, os; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 10)"
    with open(os.devnull, "r+b") as nothing:
        command = [sys.executable, "-I", "-S", "-c", traced]
        program = programs.start_program(
            command, [nothing.fileno()] * 2, folder=str(programs.folder)
        )
        assert os.waitstatus_to_exitcode(program.end().status) == -signal.SIGKILL
    assert programs.list_mounts() == before


def test_programs_can_start_after_a_program_that_cannot_be_started(programs: _Programs) -> None:
    programs.list_mounts()
    with open(os.devnull, "r+b") as nothing, pytest.raises(FileNotFoundError, match="no-such"):
        programs.start_program(
            ["no-such-program"], [nothing.fileno()] * 3, folder=str(programs.folder)
        )
    assert programs.list_mounts()


def test_missing_working_directory_is_a_sandbox_error(programs: _Programs) -> None:
    with open(os.devnull, "r+b") as nothing, pytest.raises(SandboxError, match="/no-such-folder: "):
        programs.start_program(["true"], [nothing.fileno()] * 3, folder="/no-such-folder")
    assert programs.list_mounts()


def test_sandbox_is_started_again_after_its_holder_was_killed(programs: _Programs) -> None:
    programs.list_mounts()
    [holder] = programs.instance.pids
    os.kill(holder, signal.SIGKILL)
    os.waitid(os.P_PID, holder, os.WEXITED | os.WNOWAIT)
    assert programs.list_mounts()
    assert programs.instance.pids != {holder}


def test_tar_unpacks_files_of_other_users(programs: _Programs) -> None:
    """As root, tar would change the owner."""
    with tarfile.open(programs.folder / "made.tar", "w") as archive:
        entry = tarfile.TarInfo("theirs")
        entry.uid = entry.gid = 4711
        archive.addfile(entry)
    assert programs.run_code("import os; print(os.system('tar xf made.tar'))") == "0"
    assert (programs.folder / "theirs").exists()


@pytest.mark.parametrize("name", ["pilot", ".pilot"])
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp"])
def test_jobs_of_a_slot_share_an_instance_wherever_the_slot_works(
    place: str, name: str, root: Path
) -> None:
    """A new instance for each job would double the cost. In two of the places the parent folder of
    the slot lies in a folder that the job writes to, and so does the link to it without a dot."""
    with TemporaryDirectory(dir=place) as folder:
        runner = Runner(Path(folder, name), settings={"sandbox": get_sandbox()})
        try:
            kind = make_task(root, make_python_tool(_MOUNTS))
            reports = [
                run(runner, kind, [write_input(root / f"{number}.dat")], seq=number)
                for number in range(4)
            ]
        finally:
            runner.close()
            runner.run.delete()
    assert [report.message for report in reports] == [""] * 4
    output_texts = [
        Path(report.outputs[0].url.removeprefix("file://")).read_text() for report in reports
    ]
    # A single instance may be replaced as a precaution, so at least two jobs must share one.
    assert len(set(output_texts)) < len(output_texts)


_DEVICE = find_device() or ""


@pytest.fixture
def device() -> str:
    if not _DEVICE:
        pytest.fail("no device that sandboxes lack can be opened on this machine", pytrace=False)
    return _DEVICE


@pytest.mark.needs(DEVICE)
@pytest.mark.parametrize("sandbox_options", [SandboxOptions(devices=(_DEVICE,))])
def test_gpu_devices_can_be_opened_and_their_mode_cannot_be_changed(
    programs: _Programs, device: str
) -> None:
    used = f"import os; print(os.open({device!r}, os.O_RDONLY | os.O_NONBLOCK) > 2)"
    assert programs.run_code(used) == "True"
    change = f"os.chmod({device!r}, stat.S_IMODE(os.stat({device!r}).st_mode))"
    with pytest.raises(AssertionError, match=r"Read-only|not permitted"):
        programs.run_code(f"import os, stat; {change}")


@pytest.mark.needs(DEVICE)
def test_gpu_devices_are_missing_for_jobs_that_do_not_request_them(
    programs: _Programs, device: str
) -> None:
    assert programs.run_code(f"import os; print(os.path.lexists({device!r}))") == "False"


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


def test_shared_memory_is_limited_in_total(programs: _Programs) -> None:
    programs.view = View(programs.view.files, shared_memory=4 << 20)
    assert programs.run_code(_MANY_FILES) == "4 No space left on device"
