"""The ask service on a real database, with files in a folder."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from sluice.clients.wms import WmsClient
from sluice.contracts.human_tasks.annotation import (
    AnnotatorAnswer,
    AskNext,
    HumanJob,
    HumanTask,
    NextItems,
    RefusedJob,
)
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.human_tasks.supervision import NewLink
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.servicekit.database import Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.web.http import Health, create_app
from tests.callers import allow_everybody
from tests.conftest import DatabaseFactory
from tests.integration.ask.wms_rows import AskedRows
from wfms.ask.api.annotation import router as annotation_router
from wfms.ask.api.browser_rate import BrowserRate
from wfms.ask.api.dependencies import PublicAddress
from wfms.ask.api.links import router as links_router
from wfms.ask.api.supervision import router as supervision_router
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.usecases.context import AskContext, AskRules
from wfms.ask.usecases.create_link import create_link
from wfms.ask.usecases.deliver_answers import deliver_answers
from wfms.ask.usecases.import_items import import_items
from wfms.ask.usecases.refuse_items import refuse_items

#: Decided items are returned to the WMS at once, and may be undone until then.
IMMEDIATE_RULES = AskRules(
    assignment_duration=timedelta(minutes=10), undo=timedelta(0), settle=timedelta(0)
)
TEMPLATE, STEP, GROUP = "mass times", "look", "everyone"
CHECKSUM = "sha256:" + "0" * 64


@dataclass
class Browser:
    """A browser that came with a link."""

    http: httpx.AsyncClient
    path: str

    async def next(self, *answers: AnnotatorAnswer, count: int = 3, **more: Any) -> NextItems:
        request = AskNext(answers=list(answers), requested_items=count, **more)
        answer = await self.post("next", request.model_dump(mode="json"))
        assert answer.is_success, answer.text
        return NextItems.model_validate(answer.json())

    async def post(self, what: str, body: Any) -> httpx.Response:
        return await self.http.post(f"{self.path}/{what}", json=body, headers={"Sluice-Ask": "1"})

    async def answer_all(self, word: str, *, most: int = 100) -> int:
        """Give the same answer until no more items come, and return the number of items."""
        page_items = await self.next(count=5)
        number = 0
        while page_items.items and number < most:
            number += len(page_items.items)
            page_items = await self.next(
                *(
                    AnnotatorAnswer(item=item.id, answer=word, seconds=2)
                    for item in page_items.items
                ),
                count=5,
            )
        return number


@dataclass
class HumanTasks:
    context: AskContext
    app: Any
    rows: AskedRows
    folder: Path
    browsers: list[Browser] = field(default_factory=list)

    def task(
        self,
        items: Sequence[bytes],
        *,
        names: Sequence[str] = (),
        gold: Sequence[dict[str, Any]] | bytes = (),
        **ask: Any,
    ) -> UUID:
        """Add a task with a human job for each item.

        ``names`` are the names of files in the catalogue. ``gold`` has items with known answers, or
        the content of their file.
        """
        uid = uuid4()
        folder = self.folder / str(uid)
        (folder / "out").mkdir(parents=True)
        files = [self._file(folder, f"{seq}.txt", data, seq) for seq, data in enumerate(items)]
        if names:
            called = zip(files, names, strict=True)
            files = [file.model_copy(update={"name": name}) for file, name in called]
        shared = []
        if gold:
            if not isinstance(gold, bytes):
                gold = "".join(json.dumps(item) + "\n" for item in gold).encode()
            gold_input = self._file(folder, "gold.jsonl", gold, 0)
            shared = [gold_input.model_copy(update={"port": "gold"})]
            ask["gold"] = "gold"
        first = 1 + sum(map(len, self.rows.jobs.values()))
        self.rows.tasks[uid] = HumanTask(
            uid=uid,
            chain_uid=uuid4(),
            step=STEP,
            template=TEMPLATE,
            ask=Ask(**{"question": "Is it a mass?", "link": 30, **ask}),
            output=TaskOutput(
                port="answers",
                dat_out_uid=uuid4(),
                dat_stor_url=self.folder.as_uri(),
                dat_out_url=(folder / "out").as_uri(),
            ),
            log_out_url=(folder / "logs").as_uri(),
            files=shared,
            asked=len(files),
        )
        self.rows.jobs[uid] = [
            HumanJob(id=first + file.seq, seq=file.seq, input=file) for file in files
        ]
        return uid

    def add(self, task: UUID, data: bytes) -> None:
        """Add an item to a task that had none."""
        file = self._file(self.folder / str(task), "0.txt", data, 0)
        first = 1 + sum(map(len, self.rows.jobs.values()))
        self.rows.jobs[task].append(HumanJob(id=first, seq=0, input=file))

    @staticmethod
    def _file(folder: Path, name: str, data: bytes, seq: int) -> InputFile:
        path = folder / name
        path.write_bytes(data)
        return InputFile(seq=seq, name=name, size=len(data), checksum=CHECKSUM, url=path.as_uri())

    async def import_items(self) -> None:
        while await import_items(self.context):
            pass

    async def refuse(self) -> list[RefusedJob]:
        """Refuse what cannot be shown, and return all jobs refused so far."""
        while await refuse_items(self.context):
            pass
        return self.rows.refused

    async def deliver(self) -> list[dict[str, Any]]:
        """Return the contents of the files of all answers returned so far."""
        while await deliver_answers(self.context):
            pass
        files = [self.file_of(job.output.url) for job in self.rows.answered]
        return [json.loads(path.read_bytes()) for path in files]

    @staticmethod
    def file_of(url: str) -> Path:
        return Path(url.removeprefix("file://"))

    async def key(self, *, group: str = GROUP, by: str = "ada", **link: Any) -> str:
        place = HumanStepPlace(TEMPLATE, STEP, group)
        _, key = await create_link(self.context, place, NewLink(**link), by=by)
        return key

    async def browser(self, key: str | None = None, *, agent: str = "") -> Browser:
        """Let a new browser in; ``agent`` is its user agent, which is otherwise unique."""
        transport = httpx.ASGITransport(allow_everybody(self.app))
        headers = {"User-Agent": agent or f"browser {len(self.browsers)}"}
        http = httpx.AsyncClient(transport=transport, base_url="http://ask.test", headers=headers)
        new_browser = Browser(http, "/ask/mass%20times/look")
        self.browsers.append(new_browser)
        entered = await http.get(new_browser.path, params={"key": key or await self.key()})
        assert entered.status_code == httpx.codes.SEE_OTHER, entered.text
        return new_browser

    async def rows_of(self, sql: str, *args: object) -> list[tuple[Any, ...]]:
        async with self.context.database.connection() as connection:
            return [tuple(row) for row in await connection.fetch(sql, *args)]


@pytest.fixture
async def human_tasks(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[HumanTasks]:
    url = await make_database("wfms.ask.db.migrations")
    async with run_human_tasks(url, tmp_path) as human_tasks:
        yield human_tasks


@asynccontextmanager
async def run_human_tasks(
    url: str,
    folder: Path,
    rules: AskRules = IMMEDIATE_RULES,
    *,
    requests: int = 0,
    newcomers: int = 0,
    address: str = "http://ask.test",
) -> AsyncIterator[HumanTasks]:
    """Run the service on an empty database.

    ``requests`` bounds the requests of a browser in a minute, and ``newcomers`` the new browsers of
    an address; 0 means no bound. ``address`` is the beginning of links.
    """
    await Migrator(url, "wfms.ask.db.migrations").start()
    database = Database(url, source="wfms.ask", audited=True)
    rows = AskedRows()
    transport = httpx.ASGITransport(rows.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://wms.test") as wms:
        context = AskContext(database, WmsClient(wms), rules)
        rate = BrowserRate(requests=requests, newcomers=newcomers)
        app = create_app(
            "wfms.ask",
            [annotation_router, supervision_router, links_router],
            health=Health({}),
            metrics=ServiceMetrics(),
            provide=[context, rate, PublicAddress(address)],
        )
        await database.start()
        human_tasks = HumanTasks(context, app, rows, folder)
        try:
            yield human_tasks
        finally:
            for browser in human_tasks.browsers:
                await browser.http.aclose()
            await database.stop()
