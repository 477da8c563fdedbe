"""Tests that a warm worker in the sandbox keeps only its own memory from one job to the next and
sees nothing of other jobs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.needs import Warm
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot import slot_users
from tests.unit.pilot.attempts import get_error
from tests.unit.pilot.builders import make_task, make_tool
from tests.unit.pilot.isolation import start_isolated_slot
from tests.unit.pilot.runner.attempts.warm_jobs import WarmJobs, make_raw_task, read_output
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner(tmp_path_factory.mktemp("pilot"), settings={"sandbox": get_sandbox()})
    yield runner
    runner.close()


@pytest.fixture
def jobs(server: Runner, tmp_path: Path) -> Iterator[WarmJobs]:
    """Yield jobs of a slot without warm workers."""
    yield WarmJobs(server, tmp_path)
    server.replace_slot()


@pytest.fixture(scope="module")
def user_jobs() -> Iterator[WarmJobs]:
    with slot_users.open_folder() as folder:
        runner = start_isolated_slot("user", folder / "pilot")
        yield WarmJobs(runner, folder)
        runner.close()


#: A kind of isolation of the worker: its sandbox, or the user of its slot.
BOTH_ISOLATIONS = pytest.mark.parametrize(
    "isolation", ["sandbox", pytest.param("user", marks=pytest.mark.needs(ROOT_RIGHTS))]
)


@pytest.fixture
def isolated_jobs(request: pytest.FixtureRequest, isolation: str) -> WarmJobs:
    isolation_jobs: WarmJobs = request.getfixturevalue(
        "jobs" if isolation == "sandbox" else "user_jobs"
    )
    return isolation_jobs


@BOTH_ISOLATIONS
@pytest.mark.parametrize(
    ("leaving_code", "searching_code"),
    [
        ("open('left', 'w')", "'left' in os.listdir('.')"),
        ("os.makedirs('a/b/left')", "os.path.exists('a')"),
        ("open(os.environ['TMPDIR'] + '/left', 'w')", "'left' in os.listdir(os.environ['TMPDIR'])"),
        ("pass", "os.path.exists(served[0][0])"),
        ("os.chmod('.', 0o500)", "os.stat('.').st_mode & 0o777 == 0o500"),
    ],
)
def test_next_job_of_a_warm_worker_finds_no_files_of_the_previous_job(
    isolated_jobs: WarmJobs, leaving_code: str, searching_code: str
) -> None:
    warm_task = isolated_jobs.task(warm=Warm(kind=leaving_code))
    read_output(isolated_jobs.run(warm_task, leaving_code))
    assert (
        isolated_jobs.run_and_read(warm_task, f"print({searching_code}, len(served))") == "False 2"
    )


@pytest.mark.parametrize(
    ("leaving_code", "searching_code"),
    [
        ("open('/tmp/left', 'w')", "os.path.exists('/tmp/left')"),
        ("open('/dev/shm/left', 'w')", "os.path.exists('/dev/shm/left')"),
        ("served.append(os.open('.', 0)); open('left', 'w')", "'left' in os.listdir(served[1])"),
        ("os.setxattr('.', 'user.left', b'x')", "'user.left' in os.listxattr('.')"),
        ("os.symlink('/etc', 'link')", "os.path.lexists('link')"),
    ],
)
def test_next_job_in_a_sandbox_finds_no_files_of_the_previous_job(
    jobs: WarmJobs, leaving_code: str, searching_code: str
) -> None:
    """What the node does not allow, such as an extended attribute, counts as not left."""
    warm_task = jobs.task()
    read_output(jobs.run(warm_task, f"try: {leaving_code}\nexcept OSError as error: print(error)"))
    assert jobs.run_and_read(warm_task, f"print({searching_code})") == "False"


@BOTH_ISOLATIONS
@pytest.mark.parametrize(
    ("keeps", "writes"),
    [
        (
            "f = open('out.txt', 'w'); f.write('good'); f.flush(); served.append(f)",
            "served[-2].write('EVIL'); served[-2].flush()",
        ),
        (
            "import mmap; f = open('out.txt', 'w+b'); f.write(b'good' * 2000); f.flush();"
            " served.append(mmap.mmap(f.fileno(), 8000)); f.close()",
            "served[-2][:4] = b'EVIL'; served[-2].flush()",
        ),
        (
            "served.append(os.dup(1)); print('good', flush=True)",
            "os.write(served[-2], b'EVIL')",
        ),
    ],
    ids=["open", "mapped", "standard output"],
)
def test_warm_worker_cannot_change_stored_outputs(
    isolated_jobs: WarmJobs, keeps: str, writes: str
) -> None:
    """The worker keeps descriptors and mappings of its outputs."""
    jobs = isolated_jobs
    file: dict[str, Any] = {
        "outputs": {"o": {"type": "File", "outputBinding": {"glob": "out.txt"}}}
    }
    warm_task = jobs.task() if "dup" in keeps else jobs.task(stdout="said.txt", **file)
    first = jobs.run(warm_task, keeps)
    output = Path(first.outputs[0].url.removeprefix("file://"))
    before = output.read_bytes()
    assert before.startswith(b"good")
    second = jobs.run(warm_task, f"{writes}; open('out.txt', 'w').write('x')")
    assert second.outcome is AttemptOutcome.FINISHED, second.message
    assert output.read_bytes() == before


def test_warm_worker_ends_before_inputs_of_another_kind_are_staged(jobs: WarmJobs) -> None:
    """A thread of the worker watches the input folder all the time."""
    warm_task = jobs.task()
    watches = (
        "import threading\n"
        "folder = os.path.dirname(path)\n"
        "def watch():\n"
        "    while True:\n"
        "        found = [name for name in os.listdir(folder) if name not in path]\n"
        "        if found: os.environ['SEEN'] = str(found)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
    )
    read_output(jobs.run(warm_task, watches))
    read_output(jobs.run(make_task(jobs.root, make_tool(["true"])), "another's"))
    assert jobs.run_and_read(warm_task) == "1", "the worker is another process"


def test_warm_worker_sees_no_files_of_the_node(jobs: WarmJobs, tmp_path: Path) -> None:
    (tmp_path / "hush").write_text("hush")
    warm_task = jobs.task()
    for path in (tmp_path / "hush", jobs.runner.run.journals, tmp_path / "in"):
        assert path.exists()
        assert jobs.run_and_read(warm_task, f"print(os.path.exists({str(path)!r}))") == "False"


def test_late_answer_is_not_used_for_the_next_job(jobs: WarmJobs) -> None:
    """The late answer has no request number, which workers may leave out."""
    late = 'threading.Timer(0.3, lambda: print(\'{"output": "late"}\', flush=True)).start()'
    warm_task = make_raw_task(
        jobs,
        f"import threading\nif requests == 1: answer(output='first'); {late}\nelse: time.sleep(99)",
    )
    assert jobs.run_and_read(warm_task) == "first"
    error, message = get_error(jobs.run(warm_task))
    assert error is ErrorClass.TOOL_FAILED
    assert "answered a request without its number instead of request 2" in message


@pytest.mark.parametrize("end", ["", "\\n"])
def test_too_long_answer_fails_the_job(jobs: WarmJobs, end: str) -> None:
    """The pilot would read it outside of the limits of the tool."""
    warm_task = make_raw_task(
        jobs, f"os.write(1, b'[],' * (2 << 20)); os.write(1, b'{end}'); time.sleep(99)"
    )
    error, message = get_error(jobs.run(warm_task))
    assert error is ErrorClass.TOOL_FAILED
    assert "wrote more than 4 MiB without an answer" in message
