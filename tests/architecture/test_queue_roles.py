"""Services send and consume the messages that the contracts assign to them.

The broker's permissions are derived from the contracts.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from sluice.contracts.access.services import SERVICES
from sluice.contracts.messaging import queues
from sluice.contracts.messaging.messages import EVENTS, PAYLOADS
from sluice.contracts.messaging.queues import QUEUES, SENDERS


def list_calls(service: str) -> Iterator[ast.Call]:
    for path in Path(service.replace(".", "/")).rglob("*.py"):
        yield from (
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
        )


def get_constant(node: ast.expr) -> str | None:
    """Return the value of a name of a queue or event of the contracts."""
    value = getattr(queues, node.id, None) if isinstance(node, ast.Name) else None
    return value if value in {*QUEUES, *EVENTS} else None


def list_sent_names(service: str) -> set[str]:
    queue_names = {
        get_constant(call.args[0])
        for call in list_calls(service)
        if getattr(call.func, "attr", "") == "send" and call.args
    }
    return {name for name in queue_names if name is not None}


def list_queue_names(service: str) -> set[str]:
    """Return the queues that a service consumes: in ``queue=…``, or in a table of handlers."""
    names = set()
    for path in Path(service.replace(".", "/")).rglob("*.py"):
        if "Consumer(" in (text := path.read_text()):
            names |= {
                get_constant(node)
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Name)
            }
    return {name for name in names if name in QUEUES}


def test_every_service_sends_the_messages_of_the_contracts() -> None:
    for service in SERVICES:
        assert list_sent_names(service) == {
            destination for destination, senders in SENDERS.items() if service in senders
        }, service


def test_every_service_consumes_the_queues_of_the_contracts() -> None:
    for service in SERVICES:
        assert list_queue_names(service) == {
            queue.name for queue in QUEUES.values() if queue.consumer == service
        }, service


def test_every_queue_has_a_consumer_and_every_message_has_senders() -> None:
    assert SENDERS.keys() == PAYLOADS.keys()
    assert all(SENDERS.values())
    assert {
        *(queue.consumer for queue in QUEUES.values()),
        *(service for senders in SENDERS.values() for service in senders),
    } <= set(SERVICES)
