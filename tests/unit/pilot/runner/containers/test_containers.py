"""Tests of tools in containers in a real slot process, with a real engine (Podman) and an image
that the tests build."""

from pathlib import Path

import pytest

from pilot.domain.model import StopReason
from pilot.node.engines import RUN_LABEL, SLOT_LABEL, Engine, remove_containers
from pilot.runner.containers.options import gpu_options
from sluice.contracts.common.states import AttemptOutcome, ContainerEngine, ErrorClass
from sluice.contracts.jobs.needs import Container, ContainerImage, Resources
from tests.needs import CONTAINER_GROUPS
from tests.servers.podman import IMAGE, Podman
from tests.unit.pilot.attempts import get_error, read_log, run
from tests.unit.pilot.builders import make_job, make_output, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.containers.podman_slot import (
    make_shell_tool,
    read_output,
    start_slot,
)
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until


def test_tool_runs_in_its_image_and_reads_its_input(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "frame 1.dat", data=b"hits\n")
    report = run(
        runner, make_task(root, make_shell_tool('cat /etc/mark "$f"; echo no >&2')), [file], seq=7
    )
    assert read_output(report) == "inside the image\nhits\n"
    assert report.outputs[0].name == "00000007.1-frame 1.out"
    assert f"container {IMAGE}, run with Podman" in read_log(report)
    assert read_log(report).rstrip().endswith("no")
    assert (report.peak_memory, report.cpu_seconds) == (None, None), (
        "only the client of the engine could be measured"
    )
    assert (root / "in" / "frame 1.dat").read_bytes() == b"hits\n"


def test_container_sees_only_its_own_folders_of_the_node(runner: Runner, root: Path) -> None:
    other = write_input(root / "in" / "other.dat")
    script = f"""ls -A / | grep -v -E '^(bin|dev|etc|proc|run|sys|tmp|var)$' | wc -l
        ls /sys/class/net; env
        cat {root}/in/other.dat; echo x >> "$f"; touch /etc/x; ls {runner.run.path}; pwd; true"""
    report = run(
        runner, make_task(root, make_shell_tool(script)), [write_input(root / "in" / "a.dat")]
    )
    lines = read_output(report).splitlines()
    assert lines[:2] == ["1", "lo"], "there is one folder more than in the image, and no network"
    assert "SLUICE_SECRET" not in read_output(report)
    assert str(root) not in read_output(report)
    log = read_log(report)
    assert log.count("No such file") == 2
    assert log.count("Read-only file system") == 2
    assert (
        (root / "in" / "a.dat").read_bytes() == (root / "in" / other.name).read_bytes() == b"frame"
    )


def test_container_has_a_network_only_on_request(runner: Runner, root: Path) -> None:
    requirement = {"class": "NetworkAccess", "networkAccess": True}
    prepared = make_task(root, make_shell_tool("true", more=[requirement]))
    assert "--net=none" not in read_log(run(runner, prepared, [write_input(root / "in" / "a.dat")]))
    assert "--net=none" in read_log(
        run(runner, make_task(root, make_shell_tool("true")), [write_input(root / "in" / "b.dat")])
    )


def test_message_says_how_to_request_network_access_for_a_container(
    runner: Runner, root: Path
) -> None:
    script = "echo 'connect: Network is unreachable' >&2; exit 1"
    report = run(
        runner, make_task(root, make_shell_tool(script)), [write_input(root / "in" / "a.dat")]
    )
    assert "tools have no network unless they ask for it" in get_error(report)[1]
    networked_tool = make_shell_tool(
        script, more=[{"class": "NetworkAccess", "networkAccess": True}]
    )
    report = run(runner, make_task(root, networked_tool), [write_input(root / "in" / "b.dat")])
    assert "tools have no network" not in get_error(report)[1]


def test_cwl_requirements_apply_in_a_container(runner: Runner, root: Path) -> None:
    docker = {
        "class": "DockerRequirement",
        "dockerPull": IMAGE,
        "dockerOutputDirectory": "/results",
    }
    listing = [
        {"entryname": "made.txt", "entry": "made $(inputs.f.basename)"},
        {"entryname": "in.dat", "entry": "$(inputs.f)"},
    ]
    executable = make_tool(
        ["/bin/sh", "-c"],
        requirements=[
            docker,
            {"class": "InitialWorkDirRequirement", "listing": listing},
            {"class": "InlineJavascriptRequirement"},
            {"class": "EnvVarRequirement", "envDef": {"TWICE": "$(String(2 * inputs.f.size))"}},
        ],
        arguments=["pwd; cat made.txt; echo; cat in.dat -; echo $TWICE; echo second > second.txt"],
        stdin="$(inputs.f.path)",
        outputs={
            "o": {"type": "stdout"},
            "s": {"type": "File", "outputBinding": {"glob": "second.txt"}},
            "made": {"type": "File", "outputBinding": {"glob": "made.txt"}},
        },
    )
    outputs = [
        make_output(root, "o"),
        make_output(root, "s", "second"),
        make_output(root, "made", "made"),
    ]
    report = run(
        runner,
        make_task(root, executable, outputs=outputs),
        [write_input(root / "in" / "a.dat", data=b"12345\n")],
    )
    assert read_output(report) == "/results\nmade a.dat\n12345\n12345\n12\n"
    assert read_output(report, 1) == "second\n"
    assert read_output(report, 2) == "made a.dat"


@pytest.mark.needs(CONTAINER_GROUPS)
def test_exit_codes_of_containers_are_those_of_the_tool(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, make_shell_tool("echo bad header >&2; exit 65", permanentFailCodes=[65])),
        [write_input(root / "in" / "a")],
    )
    assert get_error(report) == (
        ErrorClass.TOOL_REFUSED,
        "'sh' ended with exit code 65: bad header",
    )
    for code in (3, 126):
        report = run(
            runner,
            make_task(root, make_shell_tool(f"exit {code}")),
            [write_input(root / "in" / "b")],
        )
        assert get_error(report) == (ErrorClass.TOOL_FAILED, f"'sh' ended with exit code {code}")


def test_message_names_a_program_that_the_image_lacks(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, {**make_shell_tool("true"), "baseCommand": ["no-such-program"]}),
        [write_input(root / "in" / "a")],
    )
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.startswith("'no-such-program' ended with exit code 127")


def test_container_that_exceeds_its_time_limit_is_ended(
    runner: Runner, podman: Podman, root: Path
) -> None:
    endless_tool = make_task(
        root, make_shell_tool("trap '' TERM; sleep 1000"), resources=Resources(time_limit=3.0)
    )
    error_class, message = get_error(
        run(runner, endless_tool, [write_input(root / "in" / "a.dat")])
    )
    assert (error_class, message) == (
        ErrorClass.TOOL_TIMEOUT,
        "ran longer than its limit of 3 s (ToolTimeLimit) and was ended",
    )
    assert podman.containers() == []


@pytest.mark.needs(CONTAINER_GROUPS)
def test_container_that_exceeds_its_memory_limit_is_ended(runner: Runner, root: Path) -> None:
    greedy_tool = make_task(
        root,
        make_shell_tool("head -c 300m /dev/zero | tail > /dev/null"),
        resources=Resources(ram=64, time_limit=60.0),
    )
    report = run(runner, greedy_tool, [write_input(root / "in" / "a.dat")])
    assert get_error(report) == (
        ErrorClass.OUT_OF_MEMORY,
        "used 128 MiB of memory, having asked for 64 MiB (ramMin), which lets it use"
        " 128 MiB, and was ended",
    )


def test_container_that_exceeds_its_disk_limit_is_ended(runner: Runner, root: Path) -> None:
    writer = make_task(
        root,
        make_shell_tool("head -c 60m /dev/zero > big; sleep 60"),
        resources=Resources(disk=20, time_limit=60.0),
    )
    report = run(runner, writer, [write_input(root / "in" / "a.dat")])
    assert get_error(report) == (
        ErrorClass.TOOL_FAILED,
        "filled its folder: it may write 20 MiB (tmpdirMin and outdirMin)",
    )


@pytest.mark.parametrize("reason", [StopReason.CANCEL, StopReason.LEASE])
def test_container_ends_when_its_job_is_stopped(
    runner: Runner, podman: Podman, root: Path, reason: StopReason
) -> None:
    waiting_tool = make_task(root, make_shell_tool("trap '' TERM; sleep 1000"))
    stopped = make_job(
        waiting_tool, [write_input(root / "in" / "a.dat")], job_id=5000 + len(reason)
    )
    runner.submit(waiting_tool, stopped)
    wait_until(lambda: podman.run("ps", "--quiet"))
    runner.stop_job(stopped, reason)
    assert runner.wait_for_end().report.outcome in {AttemptOutcome.CANCELED, AttemptOutcome.FAILED}
    assert podman.containers() == []


def test_container_ends_when_the_pilot_ends(
    podman: Podman, engine: Engine, root: Path, tmp_path: Path
) -> None:
    """Invariant 6 applies to containers, too."""
    runner = start_slot(podman, engine, tmp_path)
    waiting_tool = make_task(root, make_shell_tool("trap '' TERM; sleep 1000"))
    runner.submit(
        waiting_tool, make_job(waiting_tool, [write_input(root / "in" / "a.dat")], job_id=5100)
    )
    wait_until(lambda: podman.run("ps", "--quiet"))
    runner.close()
    wait_until(lambda: podman.containers() == [])


@pytest.mark.parametrize("label", [RUN_LABEL, SLOT_LABEL])
@pytest.mark.needs(CONTAINER_GROUPS)
def test_containers_of_a_killed_pilot_are_removed_by_label(
    podman: Podman, engine: Engine, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in podman.environment.items():
        monkeypatch.setenv(name, value)
    for number in range(2):
        podman.run(
            "run",
            "--detach",
            f"--label={label}=mine",
            "--net=none",
            f"--name=left-{number}",
            IMAGE,
            "sleep",
            "1000",
        )
    podman.run(
        "run",
        "--detach",
        f"--label={label}=other",
        "--net=none",
        "--name=other",
        IMAGE,
        "sleep",
        "1000",
    )
    remove_containers(engine, f"{label}=mine")
    assert podman.containers() == ["other"]
    remove_containers(engine, f"{label}=other")


def test_file_of_the_node_cannot_be_staged_into_a_container(runner: Runner, root: Path) -> None:
    secret = root / "secret"
    root.mkdir()
    secret.write_text("hush")
    listing = [{"class": "File", "location": f"file://{secret}"}]
    executable = make_shell_tool(
        "cat secret", more=[{"class": "InitialWorkDirRequirement", "listing": listing}]
    )
    error_class, message = get_error(
        run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    )
    assert error_class is ErrorClass.TOOL_REFUSED
    assert message == f"the job could not be set up: '{secret}' is not a file of the job"


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
def test_engine_is_asked_for_the_gpus_of_the_job(
    runner: Runner, root: Path, *, inside: bool
) -> None:
    """There is no GPU here, so the engine refuses the request."""
    cuda = {
        "class": "cwltool:CUDARequirement",
        "cudaVersionMin": "11",
        "cudaComputeCapability": "5",
    }
    namespaces = {"$namespaces": {"cwltool": "http://commonwl.org/cwltool#"}}
    executable = {**make_shell_tool("true"), "hints": [cuda]}
    executable = {**(wrap_in_workflow(executable) if inside else executable), **namespaces}
    container = Container(images=[ContainerImage(name=IMAGE)])
    kind = make_task(root, executable, container=container)
    one_job = make_job(kind, [write_input(root / "in" / "a.dat")])
    report = runner.attempt(kind, one_job, gpus=["GPU-a", "GPU-b"])
    assert get_error(report)[0] is (
        ErrorClass.TOOL_FAILED if inside else ErrorClass.STAGE_IN_FAILED
    )
    assert "--device=nvidia.com/gpu=GPU-a" in read_log(report)
    assert "nvidia.com/gpu=GPU-b" in read_log(report)
    assert "--gpus" not in read_log(report)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ContainerEngine.DOCKER, ['--gpus="device=GPU-a,GPU-b"']),
        (
            ContainerEngine.PODMAN,
            ["--device=nvidia.com/gpu=GPU-a", "--device=nvidia.com/gpu=GPU-b"],
        ),
    ],
)
def test_gpu_options_depend_on_the_engine(kind: ContainerEngine, expected: list[str]) -> None:
    assert gpu_options(kind, ["GPU-a", "GPU-b"]) == expected
    assert gpu_options(kind, []) == []


def test_container_hint_is_used_if_there_is_an_engine(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "a.dat")
    report = run(runner, make_task(root, make_shell_tool("cat /etc/mark", kind="hints")), [file])
    assert read_output(report) == "inside the image\n"


def test_container_hint_is_ignored_if_there_is_no_engine(
    podman: Podman, root: Path, tmp_path: Path
) -> None:
    runner = start_slot(podman, None, tmp_path)
    try:
        file = write_input(root / "in" / "a.dat")
        report = run(runner, make_task(root, make_shell_tool("cat $f", kind="hints")), [file])
        assert read_output(report) == "frame"
        assert (
            f"container {IMAGE} is a hint, and this node has no engine: the tool runs without it"
        ) in read_log(report)
        report = run(
            runner, make_task(root, make_shell_tool("cat $f")), [write_input(root / "in" / "b.dat")]
        )
        sentence = "the tool requires a container, and this pilot's node has no engine to run it"
        assert get_error(report) == (ErrorClass.INTERNAL, sentence)
        hint = Container(images=[ContainerImage(name=IMAGE)], required=False)
        inside = make_task(
            root, wrap_in_workflow(make_shell_tool("cat $f", kind="hints")), container=hint
        )
        report = run(runner, inside, [write_input(root / "in" / "c.dat")])
        assert read_output(report) == "frame"
        assert (
            f"containers {IMAGE} are hints, and this node has no engine: the tools run without them"
        ) in read_log(report)
        inside = make_task(
            root,
            wrap_in_workflow(make_shell_tool("cat $f")),
            container=hint.model_copy(update={"required": True}),
        )
        report = run(runner, inside, [write_input(root / "in" / "d.dat")])
        assert get_error(report)[0] is ErrorClass.INTERNAL
    finally:
        runner.close()
