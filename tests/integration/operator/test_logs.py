"""Logs of jobs: shown in part on pages, by REST and by command, and downloaded in full.

Logs are read from storages for logs only.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clientkit.local_times import local_time
from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain, ChainDataset, ChainStep
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import (
    AttemptOutcome,
    ChainDatasetStatus,
    ChainState,
    DatasetType,
    JobState,
    StepState,
    StorageType,
)
from sluice.contracts.data.datasets import NewDataset, NewStorage
from sluice.contracts.jobs.logs import LiveLog, LiveStream
from sluice.contracts.jobs.tasks import Attempt, Job
from sluice.servicekit.running.lifecycle import running
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator
from tests.integration.operator.sluice_command import Command

MIB = 1 << 20
LONG = b"".join(b"line %d\n" % number for number in range(400_000))


@dataclass
class Logs:
    """Logs of job 1 in the real DMS."""

    operator: Operator
    folder: Path

    def write_all(self, *logs: bytes | None) -> None:
        """Write the logs of the job's attempts, in order; None means that an attempt has no log."""
        urls = [
            None if log is None else self.write(number, log) for number, log in enumerate(logs, 1)
        ]
        self.at(*urls)

    def write(self, number: int, log: bytes) -> str:
        path = self.folder / f"00000000.{number}.log"
        path.write_bytes(log)
        return f"file://{path}"

    def at(self, *urls: str | None) -> None:
        now = datetime.now(UTC)
        attempts = [
            Attempt(
                attempt=number,
                pilot_uid="p",
                leased_at=now,
                ended_at=now,
                outcome=AttemptOutcome.FAILED,
                log_url=url,
            )
            for number, url in enumerate(urls, 1)
        ]
        self.operator.neighbours.jobs[1] = Job(
            id=1,
            task_uid=uuid4(),
            seq=0,
            state=JobState.FAILED,
            inputs=[],
            attempt=len(urls),
            attempts=attempts,
        )

    async def page(self, query: str = "") -> str:
        return (await self.operator.http.get(f"/jobs/1{query}")).text


@pytest.fixture
async def logs(
    operator: Operator, make_database: DatabaseFactory, tmp_path: Path
) -> AsyncIterator[Logs]:
    url = await make_database("dms.db.migrations")
    settings = DmsSettings(
        database_url=url, broker_url=operator.database_url, storage_roots=str(tmp_path)
    )
    service = build_dms(settings, links=operator.links, transport=operator.transport)
    operator.links.apps["dms"] = service.app
    async with running(service):
        dms = DmsClient(operator.links.http("dms"))
        for kind in (StorageType.LOGS, StorageType.OUTPUT):
            (tmp_path / kind).mkdir()
            await dms.register_storage(
                NewStorage(name=kind, type=kind, url=f"file://{tmp_path}/{kind}")
            )
        yield Logs(operator, tmp_path / StorageType.LOGS)


async def test_long_log_shows_its_beginning_and_end_and_the_omitted_size(logs: Logs) -> None:
    logs.write_all(LONG)
    text = await logs.operator.client.get_job_log(1)
    assert text.startswith("line 0\nline 1\n")
    assert text.endswith("line 399998\nline 399999\n")
    match = re.search(r"\n… (.*) bytes left out …\n", text)
    assert match is not None
    left_out = int(match[1].replace("\u202f", ""))
    assert left_out + len(text.encode()) - len(match[0].encode()) + 1 == len(LONG)
    assert len(text) < MIB
    page = await logs.page()
    assert "line 399999" in page
    assert "bytes left out" in page
    assert "shown are its beginning and its end" in page
    assert 'href="/api/v1/jobs/1/log/content?attempt=1"' in page


@pytest.mark.parametrize("size", [0, 1, 128 * 1024, 128 * 1024 + 1, 256 * 1024])
async def test_short_log_is_shown_in_full(logs: Logs, size: int) -> None:
    logs.write_all(b"x" * size)
    assert await logs.operator.client.get_job_log(1) == "x" * size
    assert "left out" not in await logs.page()


async def test_log_is_downloaded_in_full_or_by_range(logs: Logs) -> None:
    logs.write_all(b"first\n", LONG, None)
    address = "/api/v1/jobs/1/log/content"
    whole = await logs.operator.http.get(address)
    assert (whole.status_code, whole.content == LONG) == (200, True)
    assert 'attachment; filename="00000000.2.log"' in whole.headers["content-disposition"]
    assert (
        whole.headers["x-content-type-options"],
        "sandbox" in whole.headers["content-security-policy"],
    ) == ("nosniff", True)
    part = await logs.operator.http.get(address, headers={"range": "bytes=-12"})
    assert (part.status_code, part.content) == (206, b"line 399999\n")
    assert (await logs.operator.http.get(f"{address}?attempt=1")).content == b"first\n"
    assert (await logs.operator.http.get(f"{address}?attempt=3")).status_code == 404
    assert (await logs.operator.http.get("/api/v1/jobs/2/log/content")).status_code == 404


async def test_command_shows_and_downloads_logs(
    logs: Logs, sluice: Command, tmp_path: Path
) -> None:
    logs.write_all(b"first\n", LONG)
    output = await sluice("job", "logs", "1")
    assert "bytes left out" in output
    assert output.endswith("line 399999\n")
    assert await sluice("job", "logs", "1", "--attempt", "1") == "first\n"
    assert await sluice("logs", "1") == output
    assert await sluice("task", "log", "1", "--attempt", "1") == "first\n"
    file = tmp_path / "all.log"
    assert "4.7 MB" in await sluice("job", "logs", "1", "--out", str(file))
    assert file.read_bytes() == LONG
    assert "already exists" in await sluice("job", "logs", "1", "--out", str(file), code=1)
    done = json.loads(
        await sluice("job", "logs", "1", "--attempt", "1", "--out", str(file), "--force", "--json")
    )
    assert done == {"job_id": 1, "file": str(file), "bytes": 6}
    assert file.read_bytes() == b"first\n"
    assert await sluice("job", "logs", "1", "--attempt", "1", "--out", "-") == "first\n"
    assert "attempt 7 has none" in await sluice(
        "job", "logs", "1", "--attempt", "7", "--out", str(tmp_path / "no"), code=1
    )
    assert sorted(os.listdir(tmp_path)) == ["all.log", "logs", "output"], "no partial file is left"


async def start_job(logs: Logs) -> Path:
    """Let job 1 run as its second attempt, and return the file of its live log."""
    dms, neighbours = DmsClient(logs.operator.links.http("dms")), logs.operator.neighbours
    folder = logs.folder / "step.logs"
    dataset = await dms.register_dataset(
        NewDataset(name="step.logs", type=DatasetType.LOGS, url=f"file://{folder}")
    )
    folder.mkdir(exist_ok=True)
    now, task = datetime.now(UTC), uuid4()
    chain = Chain(
        uid=uuid4(),
        state=ChainState.IN_PROGRESS,
        template_id=uuid4(),
        template="t",
        template_version=1,
        dataset_uid=uuid4(),
        dataset_name="d",
        params={},
        created_at=now,
        steps=[ChainStep(name="step", state=StepState.IN_PROGRESS, task_uid=task, started_at=now)],
        datasets=[
            ChainDataset(
                uid=dataset.uid,
                name=dataset.name,
                step="step",
                port=None,
                state=ChainDatasetStatus.IN_PROGRESS,
            )
        ],
    )
    neighbours.chains[chain.uid] = chain
    logs.write_all(b"of the first attempt\n", None)
    neighbours.jobs[1] = neighbours.jobs[1].model_copy(
        update={"state": JobState.RUNNING, "task_uid": task, "seq": 7}
    )
    return folder / "00000007.2-live.json"


def say(file: Path, text: bytes, *, start: int = 0) -> None:
    stream = LiveStream(start=start, data=text)
    temporary = file.with_suffix(".new")
    temporary.write_text(LiveLog(streams={"stderr": stream}).model_dump_json())
    temporary.rename(file)


async def test_output_of_a_running_job_is_shown(logs: Logs) -> None:
    file = await start_job(logs)
    assert (await logs.operator.client.get_live_log(1)).streams == {}
    assert "of the first attempt" in await logs.page()
    say(file, b"half <b>\xff\n", start=100)
    live_log = await logs.operator.client.get_live_log(1)
    assert (live_log.state, live_log.attempt) == (JobState.RUNNING, 2)
    assert (live_log.streams["stderr"].start, live_log.streams["stderr"].data) == (
        100,
        b"half <b>\xff\n",
    )
    page = await logs.page()
    assert "half &lt;b&gt;\ufffd" in page
    assert "Log of attempt 2, so far" in re.sub(r"<[^>]+>", "", page)
    live = (await logs.operator.http.get("/jobs/1/live")).json()
    assert live["again"]
    assert "half &lt;b&gt;" in live["parts"]["log-text"]
    assert "of the first attempt" in await logs.page("?attempt=1")
    for content in (b"", b"{", b'{"streams": {"stderr": {"start": -1, "data": ""}}}'):
        file.write_bytes(content)
        assert (await logs.operator.client.get_live_log(1)).streams == {}


async def test_command_follows_a_job_to_its_end(logs: Logs, sluice: Command) -> None:
    file = await start_job(logs)
    jobs = logs.operator.neighbours.jobs
    say(file, b"begun\n")
    job_requested = asyncio.Event()
    logs.operator.neighbours.on_job = job_requested.set
    following = asyncio.create_task(sluice("job", "logs", "-f", "1"))
    await asyncio.wait_for(job_requested.wait(), 30)
    say(file, b"begun\nhalf\n")
    started = datetime(2026, 5, 4, 8, 11, 12, tzinfo=UTC)
    head = f"step\nstarted {started.isoformat()}\noutcome finished\n"
    url = logs.write(2, head.encode() + b"\n--- stderr ---\nbegun\nhalf\ndone\n")
    attempts = [*jobs[1].attempts[:1], jobs[1].attempts[1].model_copy(update={"log_url": url})]
    jobs[1] = jobs[1].model_copy(update={"state": JobState.FINISHED, "attempts": attempts})
    assert await following == "begun\nhalf\ndone\njob 1: finished\n"
    assert f"started {local_time(started)}\n" in await sluice("job", "logs", "-f", "1")
    assert "goes with none of" in re.sub(
        r"\s+", " ", await sluice("job", "logs", "-f", "1", "--json", code=2)
    )


async def test_log_outside_of_storages_for_logs_is_not_read(logs: Logs, tmp_path: Path) -> None:
    secret, output = tmp_path / "secret", tmp_path / "output" / "data"
    secret.write_text("the key")
    output.write_text("the key")
    (logs.folder / "link").symlink_to(secret)
    for url in (
        f"file://{secret}",
        f"file://{output}",
        f"file://{logs.folder}/link",
        f"file://{logs.folder}/%2e%2e/secret",
        "http://example.org/x",
    ):
        logs.at(url)
        with pytest.raises(NotFound, match="outside the storages"):
            await logs.operator.client.get_job_log(1)
        answer = await logs.operator.http.get("/api/v1/jobs/1/log/content")
        assert answer.status_code == 422
        assert "the key" not in await logs.page() + answer.text


async def test_deleted_or_missing_log_is_reported(logs: Logs) -> None:
    logs.write_all(b"text")
    (logs.folder / "00000000.1.log").unlink()
    with pytest.raises(NotFound, match="deleted"):
        await logs.operator.client.get_job_log(1)
    assert "has been deleted" in await logs.page()
    logs.at()
    with pytest.raises(NotFound, match="no attempt has a log"):
        await logs.operator.client.get_job_log(1)


async def test_log_on_an_unreachable_storage_is_not_called_deleted(
    logs: Logs, tmp_path: Path
) -> None:
    logs.write_all(b"text")
    logs.folder.rename(tmp_path / "elsewhere")
    with pytest.raises(NotFound, match=f"the DMS does not see its storage file://{logs.folder}"):
        await logs.operator.client.get_job_log(1)
