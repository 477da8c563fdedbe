"""No messages are in transit: every message was sent, received and applied."""

from collections.abc import Iterator

from tests.faults.checker.snapshot import TABLES
from tests.faults.checker.view import View


def check_outboxes_empty(view: View) -> Iterator[str]:
    """Require that no message waits; sent messages may be kept for a while (``sent_at``)."""
    for service in TABLES:
        waiting = [row for row in view.state.rows(service, "outbox") if row.get("sent_at") is None]
        if waiting:
            yield (
                f"{len(waiting)} messages wait in the outbox of {service}, the first for"
                f" {waiting[0]['destination']}"
            )


def check_queues_empty(view: View) -> Iterator[str]:
    for queue, messages in view.state.queues.items():
        if messages and not queue.endswith(".dead"):
            yield f"{messages} messages are left in {queue}"


def check_dead_letters_empty(view: View) -> Iterator[str]:
    for queue, messages in view.state.queues.items():
        if messages and queue.endswith(".dead"):
            yield f"{messages} dead letters are in {queue}"


def check_intake_done(view: View) -> Iterator[str]:
    for row in view.state.rows("intake", "handovers"):
        yield f"data set {row['dataset_uid']} was never handed to the chains: {row['reason']}"
    for row in view.state.rows("intake", "unmatched"):
        yield f"data set {row['dataset_name']} was not matched: {row['reason']}"
