"""Mails and webhooks notify people of what needs attention, once for each fact."""

import asyncio
import email.policy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from aiosmtpd.smtp import SMTP

from sluice.contracts.chains.attention import Notice, NoticeSeverity
from sluice.contracts.chains.intake import Unmatched
from tests.integration.operator.conftest import Operator, run_operator
from tests.waiting import eventually
from wfms.operator.monitoring.domain.data_notices import report_intake
from wfms.operator.monitoring.domain.notifications import (
    MAX_LINES,
    Notification,
    build_message,
    to_notification,
)
from wfms.operator.monitoring.usecases.apprise_notifier import AppriseNotifier

NOW = datetime(2026, 5, 4, tzinfo=UTC)
PERIOD = 0.1


class Mailbox:
    """A handler of aiosmtpd that keeps the mails it gets."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refuses = False
        self.refused = 0

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        if self.refuses:
            self.refused += 1
            return "451 try again later"
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"

    @property
    def texts(self) -> str:
        return "\n".join(str(mail) for mail in self.mails)


@pytest.fixture
async def mailbox() -> AsyncIterator[tuple[Mailbox, str]]:
    """Yield the mailbox of a mail server and its address as Apprise writes it."""
    box = Mailbox()
    loop = asyncio.get_running_loop()
    connections: list[SMTP] = []

    def connection() -> SMTP:
        connections.append(SMTP(box, loop=loop))
        return connections[-1]

    server = await loop.create_server(connection, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    query = "from=sluice@example.org&to=shift@example.org&mode=insecure&format=text"
    yield box, f"mailto://{host}:{port}?{query}"
    server.close()
    await server.wait_closed()
    for one in connections:
        if one.transport is not None:
            one.transport.abort()
    await eventually(lambda: all(one.transport is None for one in connections))


def make_unmatched(number: int) -> Unmatched:
    return Unmatched(
        dataset_uid=UUID(int=number),
        dataset_name=f"run-{number:04d}",
        reason="no template matches: spd wants type raw, which is missing",
        since=NOW,
    )


@asynccontextmanager
async def run_notifying_operator(database_url: str, *urls: str) -> AsyncIterator[Operator]:
    settings = {
        "notify": list(urls),
        "notify_people_period": PERIOD,
        "public_url": "https://s.example",
    }
    async with run_operator(database_url, **settings) as operator:
        yield operator


async def test_data_set_without_a_template_is_mailed_once(
    database_url: str, mailbox: tuple[Mailbox, str]
) -> None:
    box, url = mailbox
    async with run_notifying_operator(database_url, url) as operator:
        operator.neighbours.unmatched[UUID(int=7)] = make_unmatched(7)
        await eventually(lambda: "run-0007" in box.texts)
        mail = box.mails[-1]
        assert mail["To"] == "shift@example.org"
        assert "to look at" in mail["Subject"]
        assert "No task can be defined for data set run-0007" in str(mail)
        assert f"https://s.example/datasets/{UUID(int=7)}" in str(mail)
        operator.neighbours.unmatched[UUID(int=8)] = make_unmatched(8)
        await eventually(lambda: "run-0008" in box.texts)
    assert box.texts.count("data set run-0007") == 1, "it is not mailed a second time"


async def test_refused_mail_is_sent_again(database_url: str, mailbox: tuple[Mailbox, str]) -> None:
    box, url = mailbox
    box.refuses = True
    async with run_notifying_operator(database_url, url) as operator:
        operator.neighbours.unmatched[UUID(int=7)] = make_unmatched(7)
        await eventually(lambda: box.refused)
        box.refuses = False
        await eventually(lambda: "run-0007" in box.texts)


async def test_two_instances_send_one_mail(database_url: str, mailbox: tuple[Mailbox, str]) -> None:
    box, url = mailbox
    async with (
        run_notifying_operator(database_url, url) as first,
        run_notifying_operator(database_url, url) as second,
    ):
        for operator in (first, second):
            operator.neighbours.unmatched[UUID(int=7)] = make_unmatched(7)
        await eventually(lambda: "run-0007" in box.texts)
        for operator in (first, second):
            operator.neighbours.unmatched[UUID(int=8)] = make_unmatched(8)
        await eventually(lambda: "run-0008" in box.texts)
    assert box.texts.count("No task can be defined for data set run-0007") == 1


async def test_webhook_gets_the_message_of_the_mail(database_url: str) -> None:
    posted: list[dict[str, Any]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep the test's output short."""

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"json://127.0.0.1:{server.server_port}/"
        async with run_notifying_operator(database_url, url) as operator:
            operator.neighbours.unmatched[UUID(int=7)] = make_unmatched(7)
            await eventually(lambda: any("run-0007" in each["message"] for each in posted))
        server.shutdown()
        thread.join()
    assert "to look at" in posted[0]["title"]


def test_unknown_address_is_refused_without_showing_its_password() -> None:
    with pytest.raises(ValueError, match="address 2") as raised:
        AppriseNotifier(["json://127.0.0.1/", "nothing://me:secret@example.org"])
    assert "secret" not in str(raised.value)


def test_changed_numbers_in_a_notice_are_no_news() -> None:
    first, later = (
        to_notification(
            Notice(text=f"Backing off: {jobs} jobs", severity=NoticeSeverity.WARNING, page="steps")
        )
        for jobs in (4, 1_200)
    )
    assert first is not None
    assert later is not None
    assert first.key == later.key
    [counts] = report_intake(3, [])
    assert to_notification(counts) is None


def test_long_message_ends_with_the_number_of_omitted_lines() -> None:
    news = [Notification(f"k{number}", f"thing {number}", "/") for number in range(MAX_LINES + 5)]
    title, body = build_message(news, public_url="")
    assert title == "Sluice: 25 things to look at"
    assert body.splitlines()[-1] == "- and 5 more"
