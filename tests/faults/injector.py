"""Carry out a schedule of faults, and record what was done when."""

import asyncio
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import httpx
import psutil

from sluice.contracts.common.problems import ServiceError
from tests.faults.broker import MessageCopies
from tests.faults.clocks import Clocks
from tests.faults.keys import StackKeys
from tests.faults.openid_provider import BrowserUsers
from tests.faults.retries import FaultTargetMissing, SystemViolation, wait_for
from tests.faults.schedule import DESTINATIONS, PARTNER, Fault, Kind
from tests.faults.script import Script
from tests.faults.sites import Sites
from tests.faults.stack import StackControl
from tests.faults.storage import SmallDisk
from tests.faults.workload.misbehaving_tool import MISBEHAVIOURS, get_misbehaviour_signal
from tests.faults.workload.work import MARKER

#: Seconds to wait for the target of a fault: a starting process, or a message that is not yet sent.
_TARGET_TIMEOUT = 60.0
#: Seconds until a tool is running, which on a busy machine waits for its turn.
_TOOL_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class PeopleTargets:
    """People and sites that lose their access."""

    sites: Sites
    script: Script
    browser_users: BrowserUsers


@dataclass(slots=True)
class InjectedFault:
    """A fault that happened; ``began`` and ``ended`` are seconds since the start.

    ``what`` describes what was done, and ``failed`` why it was not possible or what went wrong.
    """

    fault: Fault
    began: float
    ended: float = 0.0
    what: str = ""
    failed: str = ""


class Injector:
    """Inject the faults of a schedule.

    Its pauses are the times and durations of the faults, and no waits for a condition.
    """

    def __init__(
        self,
        stack: StackControl,
        *,
        tap: MessageCopies,
        clocks: Clocks,
        disk: SmallDisk,
        people: PeopleTargets,
        now: Callable[[], float],
    ) -> None:
        self._stack = stack
        self._tap = tap
        self._clocks = clocks
        self._disk = disk
        self._people = people
        self._now = now
        self.injected: list[InjectedFault] = []
        self._misbehaving_processes = set[psutil.Process]()
        self._tool_lock = defaultdict[Kind, asyncio.Lock](asyncio.Lock)

    async def run(self, schedule: Sequence[Fault]) -> None:
        """Run until the last fault has ended; a fault that is not possible is recorded."""
        async with asyncio.TaskGroup() as group:
            for fault in schedule:
                group.create_task(self._inject_fault(fault))

    async def _inject_fault(self, fault: Fault) -> None:
        await asyncio.sleep(max(0.0, fault.at - self._now()))
        record = InjectedFault(fault, self._now())
        self.injected.append(record)
        try:
            record.what = await self._apply_fault(fault, record)
        except (
            FaultTargetMissing,
            SystemViolation,
            ServiceError,
            OSError,
            httpx.HTTPError,
        ) as error:
            record.failed = str(error) or repr(error)
        record.ended = self._now()

    async def _apply_fault(self, fault: Fault, record: InjectedFault) -> str:
        match fault.kind:
            case Kind.KILL:
                what = await self._kill_process(fault.target, record)
            case Kind.FREEZE:
                what = await self._freeze_process(fault, record)
            case Kind.RESTART_DATABASE_FAST | Kind.RESTART_BROKER:
                what = await self._restart_server(fault.target, "fast")
            case Kind.RESTART_DATABASE_IMMEDIATE:
                what = await self._restart_server(fault.target, "immediate")
            case Kind.CUT | Kind.RESET | Kind.DELAY | Kind.BLACK_HOLE:
                what = await self._break_link(fault)
            case Kind.DUPLICATE:
                what = await self._repeat_messages(fault, record)
            case Kind.FILL:
                what = await self._fill_disk(fault)
            case Kind.CLOCK:
                what = await self._move_clock(fault)
            case Kind.KEYS:
                what = await self._rotate_keys(fault)
            case Kind.TOOL:
                what = await self._make_tool_misbehave(fault, record)
            case Kind.SITE | Kind.ENROLMENT | Kind.TOKEN | Kind.PROVIDER:
                async with self._tool_lock[fault.kind]:
                    what = await self._revoke_access(fault, record)
            case _:
                assert_never(fault.kind)
        return what

    async def _revoke_access(self, fault: Fault, record: InjectedFault) -> str:
        """Take away the access of a site, a token or a provider."""

        def report_begin() -> None:
            record.began = self._now()

        people = self._people
        match fault.kind:
            case Kind.SITE:
                return await people.sites.revoke_for(fault.seconds, report_begin)
            case Kind.ENROLMENT:
                return await people.sites.end_enrolment(
                    lambda: self._kill_process(f"{PARTNER}/0", record)
                )
            case Kind.TOKEN:
                return await people.script.replace_token(report_begin)
            case _:
                hangs = fault.target == "provider/hangs"
                return await people.browser_users.check_provider_outage(
                    fault.seconds, report_begin, is_suspended=hangs
                )

    async def _kill_process(self, target: str, record: InjectedFault) -> str:
        name, pid = await self._wait_for_process(target, record)
        os.kill(pid, signal.SIGKILL)
        return f"SIGKILL to {name} ({pid})"

    async def _freeze_process(self, fault: Fault, record: InjectedFault) -> str:
        name, pid = await self._wait_for_process(fault.target, record)
        frozen = [psutil.Process(pid)]
        frozen += frozen[0].children(recursive=True) if fault.amount else []
        # Suspended warm workers must not continue because of this.
        frozen = [one for one in frozen if _read_status(one) != psutil.STATUS_STOPPED]
        for process in frozen:
            _send_signal(process, signal.SIGSTOP)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            for process in reversed(frozen):
                _send_signal(process, signal.SIGCONT)
        return (
            f"{name} ({pid}) stopped for {fault.seconds} s, {len(frozen) - 1} of its children too"
        )

    async def _restart_server(self, server: str, mode: str) -> str:
        """Restart a server, and wait until it is ready."""
        await self._stack.send_request(do="restart-server", server=server, mode=mode)
        went_down = await wait_for(lambda: self._is_ready(server, False), 15.0)
        back = await wait_for(lambda: self._is_ready(server, True), 120.0)
        if not back:
            raise FaultTargetMissing(f"{server} did not come back within two minutes")
        return f"{server} restarted ({mode})" + (
            "" if went_down else "; it was back before anybody looked"
        )

    async def _break_link(self, fault: Fault) -> str:
        await self._stack.send_request(
            do="fault",
            link=fault.target,
            kind=fault.kind.value,
            seconds=fault.seconds,
            delay=fault.amount,
        )
        await asyncio.sleep(fault.seconds)
        delay = f", {fault.amount} s each way" if fault.kind is Kind.DELAY else ""
        return f"{fault.target}: {fault.kind} for {fault.seconds} s{delay}"

    async def _repeat_messages(self, fault: Fault, record: InjectedFault) -> str:
        """Repeat messages of the destination, or of another one if it had none yet."""
        what = ""

        async def has_repeated() -> bool:
            nonlocal what
            for destination in (fault.target, *DESTINATIONS):
                # An error means that the broker is not running at the moment.
                with suppress(httpx.HTTPError):
                    if repeated := await self._tap.publish_again(destination, int(fault.amount)):
                        record.began = self._now()
                        what = f"{repeated} messages to {destination} delivered once more"
                        return True
            return False

        if not await wait_for(has_repeated, _TARGET_TIMEOUT):
            raise FaultTargetMissing("there was no message to repeat")
        return what

    async def _fill_disk(self, fault: Fault) -> str:
        await asyncio.to_thread(self._disk.fill)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            await asyncio.to_thread(self._disk.clear)
        return f"storages {'full' if self._disk.is_full else 'not writable'} for {fault.seconds} s"

    async def _move_clock(self, fault: Fault) -> str:
        service = fault.target.removeprefix("clock/")
        self._clocks.set_offset(service, fault.amount)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            self._clocks.set_offset(service, 0.0)
        return f"clock of {service} {fault.amount:+.0f} s for {fault.seconds} s"

    async def _rotate_keys(self, fault: Fault) -> str:
        keys = StackKeys(self._stack.folder)
        changed = await asyncio.to_thread(keys.rotate)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            await asyncio.to_thread(keys.remove_old_keys)
        return f"{changed} services have new keys, the old ones known for {fault.seconds} s more"

    async def _make_tool_misbehave(self, fault: Fault, record: InjectedFault) -> str:
        """Make a tool misbehave, and wait for the end of its process."""
        way = fault.target.removeprefix("tool/")
        processes: list[psutil.Process] = []

        async def find_process() -> bool:
            working = await asyncio.to_thread(list_working_tools, MARKER)
            processes[:] = [
                process for process in working if process not in self._misbehaving_processes
            ]
            return bool(processes)

        if not await wait_for(find_process, _TOOL_TIMEOUT):
            raise FaultTargetMissing("no warm worker had a job")
        process = processes[fault.number % len(processes)]
        self._misbehaving_processes.add(process)
        record.began = self._now()
        _send_signal(process, get_misbehaviour_signal(way))

        async def has_ended() -> bool:
            return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE

        if not await wait_for(has_ended, _TARGET_TIMEOUT):
            raise FaultTargetMissing(f"the tool ({process.pid}) that should {way} did not end")
        return f"a loaded tool ({process.pid}): {way}"

    async def _wait_for_process(self, target: str, record: InjectedFault) -> tuple[str, int]:
        """Wait for the process, and return its name and id."""
        processes: list[tuple[str, int]] = []

        async def find_process() -> bool:
            process = await self._stack.process(target)
            processes[:] = [(process["name"], process["pid"])] if process["pid"] is not None else []
            return bool(processes)

        if not await wait_for(find_process, _TARGET_TIMEOUT):
            raise FaultTargetMissing(f"{target} was not running")
        record.began = self._now()
        return processes[0]

    async def _is_ready(self, server: str, ready: bool) -> bool:
        return bool((await self._stack.process(f"{server}/0"))["ready"]) is ready


def list_working_tools(marker: str) -> list[psutil.Process]:
    """Return running processes of tools with the marker that have handlers for the signals."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_program = process.name().startswith("python") and any(
                marker in argument for argument in process.cmdline()[2:3]
            )
            is_handled = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
            if (
                is_program
                and not is_handled
                and _has_signal_handler(process.pid, get_misbehaviour_signal(MISBEHAVIOURS[-1]))
            ):
                processes.append(process)
    return processes


def _has_signal_handler(pid: int, number: int) -> bool:
    """Return whether the process has a handler for the signal."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def _send_signal(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess):  # The process has ended meanwhile.
        process.send_signal(number)


def _read_status(process: psutil.Process) -> str:
    try:
        return str(process.status())
    except psutil.NoSuchProcess:
        return str(psutil.STATUS_DEAD)
