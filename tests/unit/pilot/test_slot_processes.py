"""Slots that are lost come back, however long that takes."""

import asyncio
from pathlib import Path

from pilot.agent import Agent
from pilot.domain.core import PilotCore
from pilot.domain.model import SlotLost, SlotReady
from pilot.folders.run_folder import RunFolder
from pilot.reports.outbox import Outbox
from pilot.slot_processes import SlotProcesses
from tests.unit.pilot.builders import leftovers, no_secrets


class BrokenSlots(SlotProcesses):
    """Cannot start a slot the first two times, as where what starts them has just died."""

    def __init__(self) -> None:
        self.asked = 0
        self.started = asyncio.Event()

    async def start_slot(self, slot: int) -> None:
        self.asked += 1
        if self.asked < 3:
            raise BrokenPipeError(32, "Broken pipe")
        self.started.set()


async def test_a_slot_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.make()
    slot_processes = BrokenSlots()
    agent = Agent(
        PilotCore(1),
        slot_processes,
        Outbox(run.journals, leftovers()),
        run,
        ask_for_secrets=no_secrets,
    )
    agent.tell(SlotReady(0))
    agent.tell(SlotLost(0, "ended unexpectedly"))
    async with asyncio.timeout(20):
        await slot_processes.started.wait()
    assert slot_processes.asked == 3
