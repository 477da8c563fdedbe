"""A program that takes messages from a queue, prints their ids, and waits until it is killed.

Arguments: URL, queue, number of messages.
"""

import asyncio
import sys

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport.base import Delivery, Topology
from sluice.servicekit.transport.open import open_transport


async def main(url: str, queue: str, count: int) -> None:
    transport = open_transport(url, Topology.of(Queue(queue, "tests", delivery_limit=3)))
    await transport.start()
    deliveries: list[Delivery] = []
    async for batch in transport.consume(queue, prefetch=count):
        deliveries.extend(batch)
        if len(deliveries) == count:
            print("held", *(delivery.message_id for delivery in deliveries), flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
