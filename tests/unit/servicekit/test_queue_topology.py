"""The topology has the queues of the contracts, each with its delivery limit."""

from dataclasses import replace

import pytest

from sluice.contracts.messaging.messages import DMS_FILES
from sluice.contracts.messaging.queues import DELIVERY_LIMIT, INTAKE_WAKE, QUEUES
from sluice.servicekit.messages.queue_topology import sluice_topology


@pytest.mark.parametrize("queue", [DMS_FILES, INTAKE_WAKE])
def test_own_delivery_limit_of_a_queue_replaces_the_common_one(
    queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(QUEUES, queue, replace(QUEUES[queue], delivery_limit=9))
    limits = {name: one.delivery_limit for name, one in sluice_topology().queues.items()}
    assert limits == {**dict.fromkeys(QUEUES, DELIVERY_LIMIT), queue: 9}
