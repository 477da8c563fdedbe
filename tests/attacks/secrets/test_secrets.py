"""Tests that a secret reaches its tool and is in no table, file, process, answer or backup, while
the tool runs and afterwards."""

import asyncio
import base64
import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
import psutil
import pytest

from sluice.contracts.access.services import SERVICES
from sluice.contracts.jobs.logs import LiveLog
from sluice.network.credentials import headers_for
from stack.postgres import binaries
from tests.e2e.commands import run_sluice
from tests.e2e.systems import LiveSystem, run_live_system
from tests.processes import list_running
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("secrets")

VALUE = "kX7-mirabelle-9431-quetsche-Zw2"
OTHER = "pQ4-reineclaude-2215-damson-Yd8"

ASK = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:", cwltool: "http://commonwl.org/cwltool#"}}
sluice:bind: {{token: secret:places-api, other: secret:other}}
sluice:retention: {{input: keep, logs: keep}}
requirements:
  ScatterFeatureRequirement: {{}}
  StepInputExpressionRequirement: {{}}
inputs: {{texts: "File[]", token: string, other: string}}
outputs:
  plain: {{type: "File[]", outputSource: ask/answer}}
  inner: {{type: "File[]", outputSource: inside/answer}}
steps:
  ask:
    scatter: text
    in: {{text: texts, key: token, other: other}}
    out: [answer]
    sluice:retry: {{attempts: 1}}
    run: &tool
      class: CommandLineTool
      baseCommand: [sh, -c, '{script}']
      hints: {{cwltool:Secrets: {{secrets: [key, other]}}}}
      requirements:
        ToolTimeLimit: {{timelimit: 60}}
        EnvVarRequirement: {{envDef: {{TOKEN: "Bearer $(inputs.key)"}}}}
        InitialWorkDirRequirement: {{listing: [{{entryname: key.txt, entry: $(inputs.other)}}]}}
      inputs: {{text: File, key: string, other: string}}
      outputs: {{answer: {{type: File, outputBinding: {{glob: "*.txt"}}}}}}
      stdout: answer.txt
  inside:
    scatter: text
    in: {{text: {{source: texts, valueFrom: $(self)}}, key: token, other: other}}
    out: [answer]
    sluice:retry: {{attempts: 1}}
    run: *tool
"""
#: Prints digests of the variable and of the file, and then both secrets on standard error.
TELL = (
    'printf %s "$TOKEN" | sha256sum; sha256sum < key.txt; '
    'echo "the key is $TOKEN" >&2; cat key.txt >&2; echo >&2; {more}'
)
#: The command of a tool that waits.
WAITING = ["sleep", "5085"]


@dataclass
class SecretSystem:
    system: LiveSystem
    folder: Path

    def run(self, *, more: str, code: int = 0, name: str = "places") -> str:
        """Run a chain whose tools end with the script ``more``, and return the output of the
        command."""
        workflow = self.folder / f"{name}.cwl"
        workflow.write_text(ASK.format(script=TELL.format(more=more).replace("'", "''")))
        text = self.folder / f"{name}.txt"
        text.write_text("Halle\n")
        options = ["--out", str(self.folder / f"out-{name}"), "--url", self.system.url]
        done = run_sluice("run", str(workflow), "--input", str(text), *options, code=code)
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def secret_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecretSystem]:
    folder = tmp_path_factory.mktemp("secrets")
    with run_live_system("--slots", "2", environment={"SLUICE_PILOT_LIVE_LOGS": "0.1"}) as system:
        for name, value in (("places-api", VALUE), ("other", OTHER)):
            (folder / name).write_text(value)
            options = ["--file", str(folder / name), "--for", "places*", "--url", system.url]
            assert value not in run_sluice("secret", "set", name, *options).stdout
            (folder / name).unlink()
        yield SecretSystem(system, folder)


def encode_secret(value: str) -> list[bytes]:
    """Return the value in plain text, Base64 and hexadecimal."""
    plain = value.encode()
    return [plain, base64.b64encode(plain)[:-4], plain.hex().encode()]


def contains_secret(data: bytes) -> bool:
    return any(spelling in data for value in (VALUE, OTHER) for spelling in encode_secret(value))


def find_files_with_secret(folder: Path, *, but: Sequence[str] = ()) -> list[str]:
    """Return the files that have a secret."""
    paths = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file() and path.name not in but and contains_secret(path.read_bytes()):
                paths.append(str(path.relative_to(folder)))
    return paths


async def find_tables_with_secret(system: LiveSystem) -> tuple[list[str], int]:
    """Return the tables that have a secret and the number of all tables."""
    places, number = [], 0
    for database in [*(service.database for service in SERVICES), "transport"]:
        connection = await asyncpg.connect(system.database_url(database))
        names = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        for row in names:
            statement = f"SELECT t::text AS text FROM {row['name']} AS t"  # noqa: S608 - a name
            rows = await connection.fetch(statement)
            number += 1
            if any(contains_secret(str(each["text"]).encode()) for each in rows):
                places.append(f"{database}: {row['name']}")
        await connection.close()
    return places, number


def read_answers(system: LiveSystem) -> Iterator[tuple[str, bytes]]:
    """Yield the answers of all routes and pages about chains, tasks, jobs, templates and
    secrets."""
    with httpx.Client(base_url=system.url, timeout=30, headers=headers_for(system.url)) as http:

        def ask(path: str) -> bytes:
            answer = http.get(path)
            canceled = (
                "there is no log of job" in answer.text
            )  # The job was canceled before its start.
            assert answer.status_code == 200 or canceled, (path, answer.text)
            return answer.content

        roots = ("chains", "tasks", "secrets", "pilots", "attention", "queues", "run-templates")
        for path in ("/", "/chains", "/tasks", *(f"/api/v1/{root}" for root in roots)):
            yield path, ask(path)
        for chain in json.loads(ask("/api/v1/chains"))["chains"]:
            uid = chain["uid"]
            for path in (f"/api/v1/chains/{uid}", f"/chains/{uid}"):
                yield path, ask(path)
            for step in chain["steps"]:
                task = step["task_uid"]
                for path in ("", "/explain", "/jobs"):
                    yield f"task{path}", ask(f"/api/v1/tasks/{task}{path}")
                for job in json.loads(ask(f"/api/v1/tasks/{task}/jobs"))["jobs"]:
                    for path in ("", "/explain", "/log", "/log/content"):
                        yield f"job{path}", ask(f"/api/v1/jobs/{job['id']}{path}")
        for template in json.loads(ask("/api/v1/run-templates"))["templates"]:
            yield "template", ask(f"/api/v1/run-templates/{template['id']}")
        wms = "/services/wms/api/v1"
        yield "WMS", ask(f"{wms}/tasks")


def create_backup(system: LiveSystem, folder: Path) -> None:
    """Take a backup like deploy/backup."""
    command = [str(binaries() / "pg_basebackup"), "--wal-method=stream", "--checkpoint=fast"]
    url = system.database_url("postgres")
    subprocess.run([*command, f"--dbname={url}", f"--pgdata={folder}"], check=True)


def list_own_processes(system: LiveSystem) -> list[int]:
    children = psutil.Process(system.running.pid).children(recursive=True)
    return [process.pid for process in children]


def read_process_file(process: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except OSError:
        return b""


def test_secret_reaches_its_tool_and_is_stored_nowhere(
    secret_system: SecretSystem, tmp_path: Path
) -> None:
    system = secret_system.system
    secret_system.run(more="true")
    manifest = json.loads((secret_system.folder / "out-places" / "manifest.json").read_text())
    assert {output["output"] for output in manifest["outputs"]} == {"plain", "inner"}
    for output in manifest["outputs"]:
        output_words = (secret_system.folder / "out-places" / output["name"]).read_text().split()
        assert output_words[0] == hashlib.sha256(f"Bearer {VALUE}".encode()).hexdigest()
        assert output_words[2] == hashlib.sha256(OTHER.encode()).hexdigest()
    log_text = secret_system.run(more="false", code=1, name="places-that-fail")
    assert "exit code 1: (secret other)" in log_text
    places, number = asyncio.run(find_tables_with_secret(system))
    assert (places, number > 20) == ([], True)
    answers_by_path = dict(read_answers(system))
    assert len(answers_by_path) > 20
    assert [path for path, answer in answers_by_path.items() if contains_secret(answer)] == []
    chain_pages = [page for path, page in answers_by_path.items() if path.startswith("/chains/")]
    assert all(b"secret:places-api (version 1)" in page for page in chain_pages)
    assert not contains_secret(log_text.encode())
    assert find_files_with_secret(secret_system.folder) == []
    assert find_files_with_secret(system.home, but=["encryption-key"]) == []
    create_backup(system, tmp_path / "backup")
    assert find_files_with_secret(tmp_path) == []
    key = (system.home / "encryption-key").read_bytes()
    assert (system.home / "encryption-key").stat().st_mode & 0o777 == 0o600
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and key in path.read_bytes()]
    assert manifest["parameters"]["token"] == "secret:places-api (version 1)"


def test_logs_show_the_name_in_place_of_the_secret(secret_system: SecretSystem) -> None:
    secret_system.run(more="true", name="places-logged")
    logs = [path.read_text() for path in secret_system.system.storage_files("logs")]
    log_entries = [
        log for log in logs if "the key is Bearer (secret places-api)\n(secret other)\n" in log
    ]
    assert len(log_entries) >= 2, "there are logs of the tool and of the inner workflow"


def test_only_the_tool_has_the_secret_while_it_runs(secret_system: SecretSystem) -> None:
    system = secret_system.system
    with ThreadPoolExecutor(1) as executor:
        run: Future[str] = executor.submit(
            secret_system.run, more=f"{shlex.join(WAITING)} || :", name="places-held"
        )
        try:
            wait_until(lambda: len(list_running(WAITING)) == 2, seconds=60)
            processes_with_secret = _find_processes_with_secret(system, "environ")
            assert {
                read_process_file(pid, "comm").decode().strip() for pid in processes_with_secret
            } == {"sh", "sleep"}
            assert len(processes_with_secret) == 4
            assert [
                read_process_file(each, "cmdline")
                for each in _find_processes_with_secret(system, "cmdline")
            ] == []
            assert [
                pid
                for pid in filter(str.isdigit, os.listdir("/proc"))
                if contains_secret(read_process_file(int(pid), "cmdline"))
            ] == []
            wait_until(
                lambda: sum(b"the key is" in memory for memory in _read_live_logs(system)) == 2
            )
            assert not [memory for memory in _read_live_logs(system) if contains_secret(memory)]
            assert asyncio.run(find_tables_with_secret(system))[0] == []
            private = set(find_files_with_secret(system.home / "storages"))
            assert private == set()
        finally:
            for process in list_running(WAITING):
                process.kill()
        run.result()


def _find_processes_with_secret(system: LiveSystem, what: str) -> list[int]:
    return [
        process
        for process in list_own_processes(system)
        if contains_secret(read_process_file(process, what))
    ]


def _read_live_logs(system: LiveSystem) -> list[bytes]:
    """Return the live logs of running jobs."""
    memories = []
    for path in system.storage_files("logs"):
        if path.name.endswith("live.json"):
            with suppress(FileNotFoundError, ValueError):
                streams = LiveLog.model_validate_json(path.read_bytes()).streams
                memories.append(b"".join(stream.data for stream in streams.values()))
    return memories
