"""Tests of which parts of a secret a tool gets and that nobody else sees it, in a real slot
process."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from cwltool.context import RuntimeContext
from pydantic import SecretStr

from pilot.domain.model import StopReason
from pilot.node.engines import Engine
from pilot.runner.containers.options import build_engine_command
from pilot.runner.failures import AttemptError
from pilot.runner.job_secrets import NO_SECRETS, JobSecrets, read_secrets
from sluice.contracts.access.secrets import SecretRef, SecretValues
from sluice.contracts.common.states import AttemptOutcome, ContainerEngine, ErrorClass
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.attempts import get_error
from tests.unit.pilot.builders import make_job, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

VALUE = 'hunter2 & "co"\n'
DIGEST = hashlib.sha256(VALUE.encode()).hexdigest()
REQUIREMENTS = {
    "EnvVarRequirement": {"envDef": {"TOKEN": "$(inputs.key)", "HEADER": "Bearer $(inputs.key)"}},
    "InitialWorkDirRequirement": {
        "listing": [
            {"entryname": "key.txt", "entry": "$(inputs.key)"},
            {"entryname": "sub/key.out", "entry": "<$(inputs.key)>", "writable": True},
        ]
    },
}


def make_script_tool(text: str, **fields: Any) -> dict[str, Any]:
    return make_tool(
        ["sh", "-c", text],
        inputs={"f": "File", "key": "string"},
        requirements=REQUIREMENTS,
        **fields,
    )


def wrap_in_workflow(executable: dict[str, Any]) -> dict[str, Any]:
    """Return a workflow that runs the tool inside the job."""
    return {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"f": "File", "key": "string"},
        "outputs": {"o": {"type": "File", "outputSource": "run/o"}},
        "steps": {
            "run": {
                "run": {key: value for key, value in executable.items() if key != "cwlVersion"},
                "in": {"f": "f", "key": "key"},
                "out": ["o"],
            }
        },
    }


def run_with_secrets(
    runner: Runner,
    root: Path,
    executable: dict[str, Any],
    *,
    sandbox: bool = False,
    **frame: Any,
) -> tuple[AttemptReport, str]:
    """Return the report and the log."""
    secrets = {"key": SecretRef(name="a", version=1)}
    prepared_task: PilotTask = make_task(root, executable, secrets=secrets, sandbox=sandbox)
    frame_fields = {"secrets": {"key": SecretStr(VALUE)}, **frame}
    report = runner.attempt(
        prepared_task, make_job(prepared_task, [write_input(root / "in" / "a.dat")]), **frame_fields
    )
    [log] = (root / "logs").glob("*.log")
    return report, log.read_text()


both = pytest.mark.parametrize(
    "around", [lambda process: process, wrap_in_workflow], ids=["alone", "in a workflow"]
)


@both
def test_secret_is_exact_in_variables_and_files_and_absent_elsewhere(
    runner: Runner, root: Path, around: Any
) -> None:
    tell = (
        'printf %s "$TOKEN" | sha256sum; sha256sum < key.txt; wc -c < sub/key.out; echo $HEADER >&2'
    )
    report, log = run_with_secrets(runner, root, around(make_script_tool(tell)))
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    [output] = (root / "out").iterdir()
    words = output.read_text().split()
    assert (words[0], words[2], words[4]) == (DIGEST, DIGEST, str(len(VALUE) + 2))
    assert "Bearer (secret a)" in log
    assert "hunter2" not in log + report.model_dump_json()
    files_with_secret = [path for path in runner.folder.rglob("*") if path.is_file()]
    assert not [path for path in files_with_secret if b"hunter2" in path.read_bytes()]


@both
@pytest.mark.parametrize("glob", ["key.txt", "sub/*"])
def test_files_made_from_a_secret_cannot_be_outputs(
    runner: Runner, root: Path, around: Any, glob: str
) -> None:
    executable = make_script_tool(
        "true", outputs={"o": {"type": "File", "outputBinding": {"glob": glob}}}
    )
    report, _ = run_with_secrets(runner, root, around(executable))
    error_class, _message = get_error(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert not (root / "out").exists()


@both
def test_message_of_a_failed_job_does_not_show_the_secret(
    runner: Runner, root: Path, around: Any
) -> None:
    report, log = run_with_secrets(
        runner, root, around(make_script_tool('echo "no: $TOKEN" >&2; exit 7'))
    )
    assert get_error(report)[1].endswith("ended with exit code 7: no: (secret a)")
    assert "hunter2" not in log


@both
def test_truncated_message_does_not_show_a_part_of_the_secret(
    runner: Runner, root: Path, around: Any
) -> None:
    tell = 'head -c 295 /dev/zero | tr "\\0" . >&2; echo "$TOKEN" >&2; exit 7'
    report, _ = run_with_secrets(runner, root, around(make_script_tool(tell)))
    assert get_error(report)[1].endswith("..(secr")


def test_expressions_see_a_placeholder_instead_of_the_secret(runner: Runner, root: Path) -> None:
    executable = make_script_tool("true", arguments=["$(inputs.key)"], stderr="$(inputs.key)")
    _, log = run_with_secrets(runner, root, executable)
    [command] = [line for line in log.splitlines() if line.startswith("command ")]
    assert "(secret a)" in command
    assert "hunter2" not in log


def test_job_without_its_secrets_does_not_run(runner: Runner, root: Path) -> None:
    report, log = run_with_secrets(
        runner, root, make_script_tool("echo ran >&2"), secrets={}, trouble="it was removed"
    )
    assert get_error(report) == (
        ErrorClass.STAGE_IN_FAILED,
        "the pilot did not get the secrets of the job: it was removed",
    )
    assert "ran" not in log.split("outcome")[1]


@pytest.mark.in_the_open("the test is about a slot without a sandbox")
def test_job_whose_secrets_require_a_sandbox_does_not_run_without_a_sandbox(
    root: Path, tmp_path: Path
) -> None:
    runner = Runner(tmp_path / "pilot", settings={"no_sandbox": "it is switched off"})
    try:
        report, log = run_with_secrets(runner, root, make_script_tool("echo ran >&2"), sandbox=True)
    finally:
        runner.close()
    assert get_error(report) == (
        ErrorClass.INTERNAL,
        "the job is to run in a sandbox for its secrets, and it is switched off: give this node one"
        " (docs/how-to/contain-tools.md), or take the job to a node that has one",
    )
    assert "ran" not in log.split("outcome")[1]


def test_job_with_a_pending_stop_does_not_run(runner: Runner, root: Path) -> None:
    prepared_task: PilotTask = make_task(
        root, make_script_tool("true"), secrets={"key": SecretRef(name="a", version=1)}
    )
    work = make_job(prepared_task, [write_input(root / "in" / "a.dat")])
    report = runner.attempt(prepared_task, work, stop=StopReason.SHUTDOWN)
    assert report.outcome is AttemptOutcome.RETURNED


def test_secrets_reach_the_inner_process_and_are_hidden_in_representations() -> None:
    secrets = JobSecrets({"key": SecretRef(name="a")}, {"key": SecretStr(VALUE)})
    store, redaction = read_secrets(secrets.serialize_for_inner_process())
    assert store.retrieve(secrets.placeholders["key"]) == VALUE
    assert redaction.redact_text("x " + VALUE) == "x (secret a)\n"
    assert NO_SECRETS.serialize_for_inner_process() == b""
    assert "hunter2" not in repr(SecretValues(values={"key": SecretStr(VALUE)}))


def _make_container_command(
    kind: ContainerEngine, variable: str
) -> tuple[list[str], dict[str, str], JobSecrets]:
    secrets = JobSecrets({"key": SecretRef(name="a")}, {"key": SecretStr(VALUE)})
    context = RuntimeContext({"secret_store": secrets.store})
    value = f"Bearer {secrets.placeholders['key']}"
    engine_command = ["engine", "run", f"--env={variable}={value}", "--env=PLAIN=1"]
    engine = Engine(kind=kind, program="engine", version="1")
    command, environment = build_engine_command(
        lambda *_: (list(engine_command), None), context, engine, []
    )
    return command, environment, secrets


@pytest.mark.parametrize("kind", [ContainerEngine.DOCKER, ContainerEngine.PODMAN])
def test_container_engine_gets_the_secret_in_its_environment(kind: ContainerEngine) -> None:
    command, environment, secrets = _make_container_command(kind, "TOKEN")
    assert command[2:4] == ["--env=TOKEN", "--env=PLAIN=1"]
    assert environment["TOKEN"] == f"Bearer {secrets.placeholders['key']}"


def test_secret_that_would_be_on_a_command_line_is_refused() -> None:
    with pytest.raises(AttemptError, match="udocker") as refused:
        _make_container_command(ContainerEngine.UDOCKER, "TOKEN")
    assert refused.value.error_class is ErrorClass.INTERNAL
    with pytest.raises(AttemptError, match="give it another name"):
        _make_container_command(ContainerEngine.DOCKER, "PATH")
