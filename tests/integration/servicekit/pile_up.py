"""Commit messages to ``dms.files`` as fast as possible while a relay sends them.

The module runs as a program with three arguments: database URL, broker URL and number of messages.
It prints ``piled`` with its peak memory in MB before and after, and then relays until it is ended.
"""

import asyncio
import resource
import sys
from datetime import timedelta
from uuid import uuid4

from sluice.contracts.data.datasets import NewFile
from sluice.contracts.messaging.messages import DMS_FILES, RegisterFiles
from sluice.servicekit.database import Database
from sluice.servicekit.messages.outbox import OutboxRelay
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.open import open_transport

TRANSACTION_MESSAGES = 500
#: About 2 kB as a message, so that messages kept in memory would show.
FILES = [
    NewFile(
        name=f"file-{number:03}",
        seq=number,
        size=1,
        checksum=f"sha256:{'0' * 64}",
        url=f"file:///data/{'x' * 700}",
    )
    for number in range(2)
]
KEEP = timedelta(hours=1)


def measure_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main(database_url: str, broker_url: str, count: int) -> None:
    database = Database(database_url, source="pile")
    transport = open_transport(broker_url, sluice_topology())
    async with running(transport, database):
        await Migrator(database_url, "wfms.watcher.db.migrations").start()
        async with running(
            OutboxRelay(database, transport, ServiceMetrics(), keep=KEEP, period=0.2)
        ):
            before = 0.0
            for number in range(0, count, TRANSACTION_MESSAGES):
                async with database.transaction() as transaction:
                    for _ in range(TRANSACTION_MESSAGES):
                        transaction.send(DMS_FILES, RegisterFiles(dataset_uid=uuid4(), files=FILES))
                if number == 10 * TRANSACTION_MESSAGES:
                    before = measure_peak()
            print("piled", before, measure_peak(), flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
