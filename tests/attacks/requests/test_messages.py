"""Tests of forged messages from an attacker with the broker login of a service. Consumers check
each message against the purpose of the queue and existing objects, whatever sender it names.
``test_rabbitmq_rights`` tests which queues a login can reach."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from sluice.contracts.common.states import StorageType
from sluice.contracts.messaging.messages import DMS_DELETIONS, DMS_FILES, DMS_UPLOADS, WMS_TASKS
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.transport.base import Message, Transport
from sluice.servicekit.transport.dead_letters import DeadLetter
from sluice.servicekit.transport.open import open_transport
from tests.attacks.known_values import KnownValues, create_dataset, create_known_objects
from tests.attacks.whole_system import WholeSystem, open_whole_system
from tests.servers.postgres import PostgresServer
from tests.waiting import eventually, wait_until

DEEP = 100_000


@dataclass
class MessageSystem:
    system: WholeSystem
    known_values: KnownValues

    @property
    def create_closed_dataset(self) -> str:
        """Return a data set that is complete."""
        return self.known_values["datasets"][0]

    @property
    def create_open_dataset(self) -> str:
        return self.known_values["datasets"][1]

    def describe_file(self, url: str, name: str = "x.txt") -> dict[str, Any]:
        checksum = f"sha256:{'0' * 64}"
        return {"seq": 7, "name": name, "size": 8, "checksum": checksum, "url": url}

    def get_output_url(self, name: str) -> str:
        return (self.system.home.storage(StorageType.INPUT) / name).as_uri()

    def read_dataset(self, uid: str) -> dict[str, Any]:
        dataset: dict[str, Any] = self.system.request_json("dms", "GET", f"/api/v1/datasets/{uid}")
        return dataset

    def create_result(self) -> str:
        place = self.system.home.storage(StorageType.OUTPUT) / uuid4().hex
        new = {"name": place.name, "type": "output", "url": place.as_uri()}
        dataset = self.system.request_json(
            "dms", "POST", "/api/v1/datasets", new, caller="service:wfms.chains"
        )
        return str(dataset["uid"])

    def send_forged_message(self, queue: str, body: bytes) -> DeadLetter:
        """Send the message and wait for its dead letter."""
        return self.system.run_coroutine(_wait_for_dead_letter(self.system, queue, body))


@pytest.fixture(scope="module")
def message_system(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MessageSystem]:
    with open_whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        yield MessageSystem(system, create_known_objects(system))


def make_event(type_: str, data: Any, **more: Any) -> bytes:
    """Return a message that names a valid sender."""
    head = {"id": uuid4().hex, "source": "wfms.watcher", "time": "2026-03-01T00:00:00Z"}
    return json.dumps(head | {"type": type_, "data": data} | more).encode()


async def _wait_for_dead_letter(system: WholeSystem, queue: str, body: bytes) -> DeadLetter:
    async with _open_transport(system) as transport:
        message = Message(uuid4().hex, queue, body)
        await transport.send([message])
        earlier_letters: list[DeadLetter] = []

        async def has_dead_letter() -> bool:
            letters = await transport.dead_letters(queue, limit=100)
            earlier_letters[:] = [letter for letter in letters if letter.id == message.id]
            return bool(earlier_letters)

        await eventually(has_dead_letter, what="the message is refused")
        return earlier_letters[0]


@asynccontextmanager
async def _open_transport(system: WholeSystem) -> AsyncIterator[Transport]:
    transport = open_transport(system.databases["transport"], sluice_topology())
    await transport.start()
    try:
        yield transport
    finally:
        await transport.stop()


Forgery = Callable[[MessageSystem], bytes]

FORGED_MESSAGES: dict[str, tuple[str, Forgery, str]] = {
    "a deletion, where files are told": (
        DMS_FILES,
        lambda message_system: make_event(
            DMS_DELETIONS, {"uid": message_system.create_open_dataset}
        ),
        "takes no messages of type 'dms.deletions'",
    ),
    "a task, where uploads are asked for": (
        DMS_UPLOADS,
        lambda message_system: make_event(WMS_TASKS, {"uid": message_system.create_open_dataset}),
        "takes no messages of type 'wms.tasks'",
    ),
    "a file of the machine": (
        DMS_FILES,
        lambda message_system: make_event(
            DMS_FILES,
            {
                "dataset_uid": message_system.create_open_dataset,
                "files": [message_system.describe_file("file:///etc/passwd")],
            },
        ),
        "file:///etc/passwd is not in a registered, enabled storage",
    ),
    "a file behind dots": (
        DMS_FILES,
        lambda message_system: make_event(
            DMS_FILES,
            {
                "dataset_uid": message_system.create_open_dataset,
                "files": [message_system.describe_file(message_system.get_output_url("../token"))],
            },
        ),
        "leaves its folder with '..'",
    ),
    "a file of another host": (
        DMS_FILES,
        lambda message_system: make_event(
            DMS_FILES,
            {
                "dataset_uid": message_system.create_open_dataset,
                "files": [message_system.describe_file("http://169.254.169.254/latest")],
            },
        ),
        "http://169.254.169.254/latest is not in a registered, enabled storage",
    ),
    "one more file for what is complete": (
        DMS_FILES,
        lambda message_system: make_event(
            DMS_FILES,
            {
                "dataset_uid": message_system.create_closed_dataset,
                "files": [message_system.describe_file(message_system.get_output_url("more.txt"))],
            },
        ),
        "data set 'texts' is closed",
    ),
    "another end of what is complete": (
        DMS_FILES,
        lambda message_system: make_event(
            DMS_FILES, {"dataset_uid": message_system.create_closed_dataset, "close_at": 5}
        ),
        "is to close at 1 file, not at 5",
    ),
    "the upload of what is no output": (
        DMS_UPLOADS,
        lambda message_system: make_event(
            DMS_UPLOADS, {"uid": message_system.create_closed_dataset}
        ),
        "cannot be uploaded: it is an input",
    ),
    "the deletion of the last copy of a result": (
        DMS_DELETIONS,
        lambda message_system: make_event(DMS_DELETIONS, {"uid": message_system.create_result()}),
        "it may be the last copy",
    ),
    "a field that nothing has": (
        DMS_DELETIONS,
        lambda message_system: make_event(
            DMS_DELETIONS, {"uid": message_system.create_open_dataset, "force": True}
        ),
        "force: Extra inputs are not permitted",
    ),
    "SQL for a name": (
        DMS_DELETIONS,
        lambda _: make_event(DMS_DELETIONS, {"uid": "'; DROP TABLE datasets; --"}),
        "uid: it is not a uid",
    ),
    "a task that is none": (
        WMS_TASKS,
        lambda _: make_event(WMS_TASKS, {"uid": "x"}),
        "its data are not a Task",
    ),
    "no JSON": (WMS_TASKS, lambda _: b"\xff\xfe\0", "not a message as the services send them"),
    "a list": (WMS_TASKS, lambda _: b"[]", "the whole: Input should be an object"),
    "lists in lists": (WMS_TASKS, lambda _: b"[" * DEEP + b"]" * DEEP, "recursion limit exceeded"),
    "objects in objects": (
        DMS_FILES,
        lambda _: make_event(DMS_FILES, "here").replace(
            b'"here"', b'{"a":' * DEEP + b"1" + b"}" * DEEP
        ),
        "recursion limit exceeded",
    ),
}


@pytest.mark.parametrize("case", FORGED_MESSAGES)
def test_forged_message_changes_nothing_and_becomes_a_dead_letter_with_a_reason(
    message_system: MessageSystem, case: str
) -> None:
    queue, forged, reason = FORGED_MESSAGES[case]
    before = [
        message_system.read_dataset(uid)
        for uid in (message_system.create_open_dataset, message_system.create_closed_dataset)
    ]

    letter = message_system.send_forged_message(queue, forged(message_system))

    assert reason in letter.reason
    assert [
        message_system.read_dataset(uid)
        for uid in (message_system.create_open_dataset, message_system.create_closed_dataset)
    ] == before


def test_valid_message_is_accepted_after_forged_messages(message_system: MessageSystem) -> None:
    """It shows that the other messages are refused for their content."""
    uid = create_dataset(message_system.system, "fresh", close=False)
    files = [
        message_system.describe_file(message_system.get_output_url("more.txt"), "more.txt")
        | {"seq": 1}
    ]
    body = make_event(DMS_FILES, {"dataset_uid": uid, "files": files})

    async def send() -> None:
        async with _open_transport(message_system.system) as transport:
            await transport.send([Message(uuid4().hex, DMS_FILES, body)])

    message_system.system.run_coroutine(send())
    wait_until(
        lambda: message_system.read_dataset(uid)["count_files"] > 1, what="the file is registered"
    )
    assert message_system.read_dataset(uid)["count_files"] == 2
