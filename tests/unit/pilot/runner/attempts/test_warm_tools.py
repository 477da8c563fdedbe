"""Tests of warm workers in a slot with each kind of isolation."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from pilot.domain.model import StopReason
from pilot.runner.files.input_protection import MAX_COPIED
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.needs import Resources, Warm
from tests.unit.pilot import slot_users
from tests.unit.pilot.attempts import get_error, read_log, run
from tests.unit.pilot.builders import TOOL_PYTHON, make_job, make_task, make_tool, write_input
from tests.unit.pilot.isolation import ISOLATION_PARAMETERS, start_isolated_slot
from tests.unit.pilot.runner.attempts.warm_jobs import NUMBER, WarmJobs, make_raw_task, read_output
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until


@pytest.fixture(scope="module", params=ISOLATION_PARAMETERS)
def isolation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(isolation: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Start a server of slots whose folders their user can enter."""
    with slot_users.open_folder() as reachable:
        folder = reachable if isolation == "user" else tmp_path_factory.mktemp("slots")
        runner = start_isolated_slot(isolation, folder / "pilot")
        yield runner
        runner.close()


@pytest.fixture
def jobs(server: Runner, tmp_path: Path) -> Iterator[WarmJobs]:
    """Yield jobs of a slot without warm workers."""
    yield WarmJobs(server, tmp_path)
    server.replace_slot()


def test_jobs_of_a_kind_share_a_process_and_have_separate_folders(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    code = (
        "print(len(served), sorted(os.listdir('.')), os.path.basename(path), os.getcwd(),"
        " os.environ['HOME'], os.environ['TMPDIR'], os.listdir(os.environ['TMPDIR']));"
        "open('left', 'w'); open(os.environ['TMPDIR'] + '/left', 'w')"
    )
    first, second = (jobs.run_and_read(warm_task, code).split(" ", 1) for _ in range(2))
    assert (first[0], second[0]) == ("1", "2")
    assert first[1].replace("1.", "2.") == second[1]


def test_tasks_of_the_same_kind_share_a_warm_worker(jobs: WarmJobs) -> None:
    assert [jobs.run_and_read(warm_task) for warm_task in (jobs.task(), jobs.task())] == ["1", "2"]


def test_other_kinds_cold_tools_and_other_limits_have_their_own_processes(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    assert [jobs.run_and_read(warm_task), jobs.run_and_read(warm_task)] == ["1", "2"]
    assert jobs.run_and_read(jobs.task(warm=Warm(kind="b"))) == "1"
    assert jobs.run_and_read(warm_task) == "1"
    cold = make_task(jobs.root, make_tool(["sh", "-c", "echo cold"]))
    assert jobs.run_and_read(cold) == "cold"
    assert jobs.run_and_read(warm_task) == "1"
    assert jobs.run_and_read(jobs.task(resources=Resources(ram=300, time_limit=60))) == "1"


def test_changed_key_input_restarts_the_warm_worker(jobs: WarmJobs) -> None:
    warm_task = jobs.task(warm=Warm(kind="a", key=["f"]))
    same = jobs.file(NUMBER)
    assert [read_output(run(jobs.runner, warm_task, [same], seq=n)) for n in (10, 11)] == ["1", "2"]
    assert jobs.run_and_read(warm_task) == "1"


def test_jobs_of_a_warm_worker_end_like_jobs_of_a_cold_tool(jobs: WarmJobs) -> None:
    warm_task = jobs.task(permanentFailCodes=[7])
    assert jobs.run_and_read(warm_task) == "1"
    report = jobs.run(warm_task, "print('why', file=sys.stderr); result = 3")
    assert get_error(report)[0] is ErrorClass.TOOL_FAILED
    assert "exit code 3" in report.message
    assert report.exit_code == 3
    assert read_log(report).endswith("--- stderr ---\nwhy\n")
    assert get_error(jobs.run(warm_task, "result = 7"))[0] is ErrorClass.TOOL_REFUSED
    report = jobs.run(jobs.task(), "raise ValueError('cut off')")
    assert "ValueError: cut off" in report.message
    assert jobs.run_and_read(warm_task) == "2"


def test_each_job_has_its_own_log_and_standard_error_can_be_an_output(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    logs = [read_log(jobs.run(warm_task, f"print('said {n}', file=sys.stderr)")) for n in (1, 2)]
    assert ["said 1" in log for log in logs] == [True, False]
    assert "said 2" in logs[1]
    warm_task = jobs.task(stderr="$(inputs.f.nameroot).out", stdout=None)
    texts = [jobs.run_and_read(warm_task, f"print('said {n}', file=sys.stderr)") for n in (1, 2)]
    assert texts == ["said 1", "said 2"]


def test_binary_standard_output_of_a_warm_worker_is_unchanged(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    report = jobs.run(warm_task, "os.write(1, bytes(range(256)))")
    assert Path(report.outputs[0].url.removeprefix("file://")).read_bytes() == bytes(range(256))
    warm_task = make_raw_task(jobs, "answer(output=''.join(map(chr, range(128))) + chr(0xdcff))")
    report = jobs.run(warm_task)
    output = Path(report.outputs[0].url.removeprefix("file://")).read_bytes()
    assert output == bytes(range(128)) + b"\xff"


def test_missing_fields_of_an_answer_have_default_values(jobs: WarmJobs) -> None:
    warm_task = make_raw_task(jobs, "print('{}', flush=True)")
    assert [jobs.run_and_read(warm_task), jobs.run_and_read(warm_task)] == ["", ""]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "print('loading the model', flush=True)",
            'wrote "loading the model" instead of an answer',
        ),
        ("print('[1]', flush=True)", 'wrote "[1]" instead of an answer'),
        ("answer(exitCode='0')", "instead of an answer"),
        ("request['requestId'] = 99; answer()", "answered request 99 instead of request 1"),
        ("os.close(1); time.sleep(99)", "closed its standard output without an answer"),
        ("sys.exit(0)", "ended by itself, with exit code 0, before it had answered"),
        ("sys.exit(5)", "exit code 5"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_worker_that_breaks_the_protocol_fails_its_job_with_a_message(
    jobs: WarmJobs, code: str, sentence: str
) -> None:
    warm_task = make_raw_task(
        jobs,
        f"if b'break' in open(request['inputs'][0]['path'], 'rb').read():\n {code}\n"
        "else:\n answer(output=str(requests))",
    )
    error, message = get_error(jobs.run(warm_task, "break"))
    assert error is ErrorClass.TOOL_FAILED
    assert sentence in message
    assert jobs.run_and_read(warm_task) == "1"


def test_worker_that_answers_twice_is_restarted(jobs: WarmJobs) -> None:
    warm_task = make_raw_task(jobs, "answer(output=str(requests)); answer(output='again')")
    reports = [jobs.run(warm_task) for _ in range(3)]
    for report in reports:
        if report.outcome is AttemptOutcome.FINISHED:
            assert read_output(report) == "1"
        else:
            assert "after its answer" in report.message or "instead of request 2" in report.message


def test_worker_that_hangs_is_ended_at_the_time_limit_of_the_job(jobs: WarmJobs) -> None:
    warm_task = jobs.task(resources=Resources(time_limit=0.7))
    error, message = get_error(jobs.run(warm_task, "time.sleep(99)"))
    assert error is ErrorClass.TOOL_TIMEOUT
    assert "0.7 s" in message
    assert jobs.run_and_read(warm_task) == "1"


def test_worker_that_does_not_read_its_request_is_ended(jobs: WarmJobs) -> None:
    executable = make_tool(
        [TOOL_PYTHON, "-c", "import time; time.sleep(99)"], arguments=["x" * 100_000] * 3
    )
    request = Resources(time_limit=0.5)
    warm_task = make_task(jobs.root, executable, warm=Warm(kind="a"), resources=request)
    assert get_error(jobs.run(warm_task))[0] is ErrorClass.TOOL_TIMEOUT


def test_worker_whose_memory_grows_beyond_the_limit_is_ended(jobs: WarmJobs) -> None:
    warm_task = jobs.task(resources=Resources(ram=60, time_limit=60))
    grow = "import builtins; builtins.kept = getattr(builtins, 'kept', []) + [b'x' * (50 << 20)]"
    reports = [jobs.run(warm_task, f"{grow}; work(0.3)") for _ in range(3)]
    assert [report.outcome for report in reports[:2]] == [AttemptOutcome.FINISHED] * 2
    assert get_error(reports[2])[0] is ErrorClass.OUT_OF_MEMORY
    assert (reports[1].peak_memory or 0) > 100
    assert jobs.run_and_read(warm_task) == "1"


def test_worker_that_fills_its_disk_is_ended(jobs: WarmJobs) -> None:
    warm_task = jobs.task(resources=Resources(disk=5, time_limit=60))
    code = "[open(a, 'wb').write(bytes(4 << 20)) for a in 'ab']; time.sleep(99)"
    error, message = get_error(jobs.run(warm_task, code))
    assert (error, "filled its folder" in message) == (ErrorClass.TOOL_FAILED, True)
    assert jobs.run_and_read(warm_task) == "1"


def test_cpu_time_counts_for_each_job_of_a_worker_separately(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    busy = "end = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    assert 0.2 < (jobs.run(warm_task, busy).cpu_seconds or 0) < 2
    assert (jobs.run(warm_task, NUMBER).cpu_seconds or 0) < 0.1


def test_worker_that_leaves_processes_is_restarted(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    assert jobs.run_and_read(warm_task) == "1"
    assert (
        jobs.run_and_read(warm_task, "subprocess.Popen(['sleep', '99']); print(len(served))") == "2"
    )
    assert jobs.run_and_read(warm_task) == "1"


def test_orphans_of_a_worker_are_ended(jobs: WarmJobs, tmp_path: Path) -> None:
    warm_task = jobs.task()
    assert jobs.run_and_read(warm_task) == "1"
    code = "os.system('setsid sleep 98.76 >/dev/null 2>&1 &'); print(len(served))"
    assert jobs.run_and_read(warm_task, code) == "2"
    assert jobs.run_and_read(warm_task) in ("1", "3")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            assert b"98.76" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue


def test_worker_is_restarted_after_its_number_of_jobs_and_after_two_failures(
    jobs: WarmJobs,
) -> None:
    warm_task = jobs.task(warm=Warm(kind="a", jobs=2))
    assert [jobs.run_and_read(warm_task) for _ in range(5)] == ["1", "2", "1", "2", "1"]
    warm_task = jobs.task(warm=Warm(kind="b"))
    for _ in range(2):
        get_error(jobs.run(warm_task, "result = 1"))
    assert jobs.run_and_read(warm_task) == "1"


def test_idle_worker_unloads_after_a_while_or_on_request(jobs: WarmJobs) -> None:
    warm_task = jobs.task(warm=Warm(kind="a", idle=0.2))
    assert jobs.run_and_read(warm_task) == "1"
    jobs.runner.wait_for_unload()
    warm_task = jobs.task()
    assert jobs.run_and_read(warm_task) == "1"
    jobs.runner.unload()
    jobs.runner.wait_for_unload()
    assert jobs.run_and_read(warm_task) == "1"


def test_end_of_each_job_reports_the_state_of_the_warm_worker(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    for number in (1, 2):
        jobs.runner.submit(
            warm_task, make_job(warm_task, [jobs.file("work(0.4 * (len(served) == 1))")])
        )
        loaded = jobs.runner.wait_for_end().loaded
        assert loaded is not None
        assert (loaded.kind, loaded.step, loaded.jobs) == ("a", "step", number)
        assert 0.3 < loaded.loading < 10
        assert loaded.memory > 1


def test_canceled_job_ends_the_warm_worker(jobs: WarmJobs) -> None:
    warm_task = jobs.task()
    waiting = make_job(warm_task, [jobs.file("open('ready', 'w'); time.sleep(99)")])
    jobs.runner.submit(warm_task, waiting)
    while not list(jobs.runner.run.path.glob("slots/*/out/ready")):
        os.sched_yield()
    jobs.runner.stop_job(waiting, StopReason.CANCEL)
    assert jobs.runner.wait_for_end().report.outcome is AttemptOutcome.CANCELED
    assert jobs.run_and_read(warm_task) == "1"


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Return a folder on another file system than the storages."""
    with TemporaryDirectory(dir="/dev/shm") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def test_warm_worker_can_read_only_the_large_inputs_of_its_job(
    elsewhere: Path, tmp_path: Path, isolation: str
) -> None:
    """Large inputs are not copied. The worker reads the files of the storage."""
    runner = start_isolated_slot(isolation, elsewhere / "pilot")
    try:
        with TemporaryDirectory(dir="/tmp") as storages:
            Path(storages).chmod(0o755)  # Otherwise a slot user would get copies.
            _check_large_inputs(WarmJobs(runner, tmp_path), Path(storages))
    finally:
        runner.close()


def _check_large_inputs(jobs: WarmJobs, storages: Path) -> None:
    warm_task = jobs.task()

    def write_large_input(name: str, code: str) -> InputFile:
        data = code.encode().ljust(MAX_COPIED + 1, b"\n")
        return write_input(storages / "storage" / name / f"{name}.txt", data=data)

    code = (
        "real = os.path.realpath(path)\n"
        "above = os.path.dirname(os.path.dirname(real))\n"
        "print(len(served), sorted(os.listdir(above)))\n"
        "try: open(real, 'r+')\n"
        "except OSError as error: print(error.strerror)\n"
    )
    output_texts = [
        read_output(run(jobs.runner, warm_task, [write_large_input(name, code)], seq=n))
        for n, name in enumerate(("one", "two"), 50)
    ]
    if jobs.runner.settings.get("sandbox"):
        assert output_texts == [
            "1 ['one']\nRead-only file system",
            "2 ['two']\nRead-only file system",
        ]
    elif jobs.runner.settings.get("users"):
        assert output_texts == [
            "1 ['one']\nPermission denied",
            "2 ['one', 'two']\nPermission denied",
        ]
    else:
        assert [text[0] for text in output_texts] == ["1", "2"]


def test_slot_that_ends_leaves_no_processes(
    elsewhere: Path, tmp_path: Path, isolation: str
) -> None:
    runner = start_isolated_slot(isolation, elsewhere / "pilot")
    jobs = WarmJobs(runner, tmp_path)
    jobs.run_and_read(jobs.task(), "os.environ['MARK'] = 'x'; print(1)")
    processes = psutil.Process(runner.slot_pid).children(recursive=True)
    assert processes
    runner.close()
    wait_until(lambda: not any(map(is_alive, processes)))


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
