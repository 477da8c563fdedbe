"""What a tool that stays loaded can keep of one job for the next, and see of others: nothing but
what is in its own memory, in the sandbox."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.needs import Warm
from sluice.contracts.states import AttemptOutcome, ErrorClass
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot import slot_users
from tests.unit.pilot.attempts import failed
from tests.unit.pilot.builders import task, tool
from tests.unit.pilot.isolation import slot_behind
from tests.unit.pilot.runner.attempts.test_warm_tools import Jobs, raw, text_of
from tests.unit.pilot.sandboxes import found_sandbox
from tests.unit.pilot.slot_runner import Runner


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    runner = Runner(tmp_path / "pilot", settings={"sandbox": found_sandbox()})
    yield Jobs(runner, tmp_path)
    runner.close()


@pytest.fixture(scope="module")
def of_a_user() -> Iterator[Jobs]:
    with slot_users.open_folder() as folder:
        runner = slot_behind("user", folder / "pilot")
        yield Jobs(runner, folder)
        runner.close()


@pytest.mark.parametrize(
    ("leaves", "looks"),
    [
        ("open('left', 'w')", "'left' in os.listdir('.')"),
        ("os.makedirs('a/b/left')", "os.path.exists('a')"),
        ("open(os.environ['TMPDIR'] + '/left', 'w')", "'left' in os.listdir(os.environ['TMPDIR'])"),
        ("open('/tmp/left', 'w')", "os.path.exists('/tmp/left')"),
        ("open('/dev/shm/left', 'w')", "os.path.exists('/dev/shm/left')"),
        ("pass", "os.path.exists(served[0][0])"),
        ("served.append(os.open('.', 0)); open('left', 'w')", "'left' in os.listdir(served[1])"),
        ("os.chmod('.', 0o500)", "os.stat('.').st_mode & 0o777 == 0o500"),
        ("os.setxattr('.', 'user.left', b'x')", "'user.left' in os.listxattr('.')"),
        ("os.symlink('/etc', 'link')", "os.path.lexists('link')"),
    ],
)
def test_the_next_job_finds_nothing_of_the_one_before(jobs: Jobs, leaves: str, looks: str) -> None:
    of = jobs.task()
    text_of(jobs.run(of, f"try: {leaves}\nexcept OSError as error: print(error)"))
    assert jobs.said(of, f"print({looks})") == "False"


@pytest.mark.needs(ROOT_RIGHTS)
@pytest.mark.parametrize(
    ("leaves", "looks"),
    [
        ("open('left', 'w')", "'left' in os.listdir('.')"),
        ("os.makedirs('a/b/left')", "os.path.exists('a')"),
        ("open(os.environ['TMPDIR'] + '/left', 'w')", "'left' in os.listdir(os.environ['TMPDIR'])"),
        ("pass", "os.path.exists(served[0][0])"),
        ("os.chmod('.', 0o500)", "os.stat('.').st_mode & 0o777 == 0o500"),
    ],
)
def test_nor_does_it_in_the_folders_of_a_job_as_the_user_of_a_slot(
    of_a_user: Jobs, leaves: str, looks: str
) -> None:
    of = of_a_user.task(warm=Warm(kind=leaves))
    text_of(of_a_user.run(of, leaves))
    assert of_a_user.said(of, f"print({looks}, len(served))") == "False 2"


@pytest.mark.parametrize(
    "way", ["sandbox", pytest.param("user", marks=pytest.mark.needs(ROOT_RIGHTS))]
)
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
def test_what_it_gave_is_out_of_its_reach(
    request: pytest.FixtureRequest, way: str, keeps: str, writes: str
) -> None:
    """Files that are stored and registered, held by whoever wrote them."""
    jobs: Jobs = request.getfixturevalue("jobs" if way == "sandbox" else "of_a_user")
    file: dict[str, Any] = {
        "outputs": {"o": {"type": "File", "outputBinding": {"glob": "out.txt"}}}
    }
    of = jobs.task() if "dup" in keeps else jobs.task(stdout="said.txt", **file)
    first = jobs.run(of, keeps)
    given = Path(first.outputs[0].url.removeprefix("file://"))
    before = given.read_bytes()
    assert before.startswith(b"good")
    second = jobs.run(of, f"{writes}; open('out.txt', 'w').write('x')")
    assert second.outcome is AttemptOutcome.FINISHED, second.message
    assert given.read_bytes() == before


def test_it_is_gone_before_the_files_of_another_kind_are_there(jobs: Jobs) -> None:
    """A thread of it that looks into the folder for inputs all the time has nobody to tell."""
    of = jobs.task()
    watches = (
        "import threading\n"
        "folder = os.path.dirname(path)\n"
        "def watch():\n"
        "    while True:\n"
        "        found = [name for name in os.listdir(folder) if name not in path]\n"
        "        if found: os.environ['SEEN'] = str(found)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
    )
    text_of(jobs.run(of, watches))
    text_of(jobs.run(task(jobs.root, tool(["true"])), "another's"))
    assert jobs.said(of) == "1", "it is another process"


def test_it_sees_no_more_of_the_node_than_any_tool(jobs: Jobs, tmp_path: Path) -> None:
    (tmp_path / "hush").write_text("hush")
    of = jobs.task()
    for path in (tmp_path / "hush", jobs.runner.run.journals, tmp_path / "in"):
        assert path.exists()
        assert jobs.said(of, f"print(os.path.exists({str(path)!r}))") == "False"


def test_an_answer_that_comes_late_is_not_the_next_jobs(jobs: Jobs) -> None:
    """Though it names no request, which may be left out by who never does."""
    late = 'threading.Timer(0.3, lambda: print(\'{"output": "late"}\', flush=True)).start()'
    of = raw(
        jobs,
        f"import threading\nif requests == 1: answer(output='first'); {late}\nelse: time.sleep(99)",
    )
    assert jobs.said(of) == "first"
    error, message = failed(jobs.run(of))
    assert error is ErrorClass.TOOL_FAILED
    assert "answered no request by its number, and was asked 2" in message


@pytest.mark.parametrize("end", ["", "\\n"])
def test_a_long_answer_is_none(jobs: Jobs, end: str) -> None:
    """It would be read outside of the tool's limits."""
    of = raw(jobs, f"os.write(1, b'[],' * (2 << 20)); os.write(1, b'{end}'); time.sleep(99)")
    error, message = failed(jobs.run(of))
    assert error is ErrorClass.TOOL_FAILED
    assert "wrote more than 4 MiB, and no answer" in message
