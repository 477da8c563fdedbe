"""Bring the work in, like a data acquisition that repeats unanswered requests."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from sluice import storage
from sluice.clientkit.connection import client
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.attention import Acknowledge, Subject
from sluice.contracts.common.problems import NotAvailable, Unauthenticated
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile
from sluice.contracts.data.runs import NewPeriod, NewRun
from sluice.contracts.jobs.limits import LimitPeriod, SetLimit
from sluice.contracts.templates.templates import NewTemplate
from sluice.storage import StorageFull, StorageUnavailable
from tests.faults.retries import repeat_call
from tests.faults.script import ScriptToken
from tests.faults.workload.work import PERIOD, PIPELINES, WORKFLOWS, Arrival, read_workflow

Result = TypeVar("Result")

_OPERATOR = Acknowledge(by="operator")

#: Seconds for which a call is repeated before the suite gives up.
_TIMEOUT = 600.0
#: Seconds between two queries of an observer.
_POLL_SECONDS = 0.5


class DataFeeder:
    """Registers the work; ``calls`` counts successes and ``repeats`` repetitions.

    Calls are repeated after missing answers, full storages and revoked tokens.
    """

    def __init__(
        self,
        operator: OperatorClient,
        dms: DmsClient,
        *,
        transient_errors: tuple[type[Exception], ...],
    ) -> None:
        """Create a feeder that repeats a call after one of the ``transient_errors``."""
        self._operator = operator
        self._dms = dms
        self._transient_errors = transient_errors
        self.calls = 0
        self.repeats = 0

    async def store_templates(self) -> None:
        for limit in (limit for pipeline in PIPELINES for limit in pipeline.limits):
            period = None if limit.period is None else LimitPeriod(limit.period)
            new = SetLimit(name=limit.name, amount=limit.amount, period=period)
            await self._retry(partial(self._operator.set_limit, new))
        for name in WORKFLOWS:
            template = NewTemplate(name=name, cwl=read_workflow(name))
            await self._retry(partial(self._operator.store_template, template))
        await self._retry(lambda: self._dms.register_period(NewPeriod(name=PERIOD)))

    async def register_all(self, arrivals: Sequence[Arrival]) -> None:
        """Bring in each data set at its time, concurrently if one takes long."""
        began = time.monotonic()

        async def register_one(arrival: Arrival) -> None:
            # Not a wait for an event: the plan says when each data set arrives.
            await asyncio.sleep(max(0.0, began + arrival.at - time.monotonic()))
            await self.register_arrival(arrival)

        async with asyncio.TaskGroup() as group:
            for arrival in arrivals:
                group.create_task(register_one(arrival))

    async def poll_results(self) -> None:
        """Query results forever, like a person who waits for them."""
        while True:
            await self._retry(self._operator.list_chains)
            await self._retry(self._dms.list_storages)
            # The load that this person causes.
            await asyncio.sleep(_POLL_SECONDS)

    async def acknowledge_failures(self) -> None:
        """Acknowledge failed jobs of finished chains, so that their inputs are deleted."""
        notices = await self._retry(lambda: self._operator.list_notices(limit=1000))
        for notice in notices.notices:
            subject = None if notice.id is None else notice.subject_of(notice.id)
            if subject is not None and subject[0] is Subject.FAILURES:
                acknowledge = partial(self._operator.acknowledge_chain, subject[1], _OPERATOR)
                await self._retry(acknowledge)

    async def have_all_chains_ended(self, number: int) -> bool:
        """Return whether there are so many chains, and all have ended."""
        chains = (await self._retry(self._operator.list_chains)).chains
        return len(chains) == number and all(chain.state.final for chain in chains)

    async def register_arrival(self, arrival: Arrival) -> None:
        if arrival.run is not None:
            run = NewRun(number=arrival.run, period=PERIOD)
            await self._retry(lambda: self._dms.register_run(run))
        [place] = await self._retry(lambda: self._dms.list_storages(type=StorageType.INPUT))
        name, period = arrival.expected.dataset, None if arrival.run is None else PERIOD
        new = NewDataset(
            name=name,
            meta=arrival.meta,
            run=arrival.run,
            period=period,
            url=f"{place.url}/{name}",
            copied=True,
        )
        dataset = await self._retry(lambda: self._dms.register_dataset(new))
        files = [
            await self._write_file(path, f"{place.url}/{name}", seq)
            for seq, path in enumerate(arrival.files)
        ]
        await self._retry(lambda: self._dms.register_many_files(dataset.uid, files))
        await self._retry(lambda: self._dms.close_dataset(dataset.uid, files=len(files)))

    async def _write_file(self, path: Path, folder: str, seq: int) -> NewFile:
        url = f"{folder}/{path.name}"
        stored = await self._retry(lambda: asyncio.to_thread(storage.put, path, url))
        return NewFile(seq=seq, name=path.name, size=stored.size, checksum=stored.checksum, url=url)

    async def _retry(self, call: Callable[[], Awaitable[Result]]) -> Result:
        def count_repeat() -> None:
            self.repeats += 1

        result = await repeat_call(
            call, self._transient_errors, seconds=_TIMEOUT, count_repeat=count_repeat
        )
        self.calls += 1
        return result


@asynccontextmanager
async def open_feeder(
    operator_url: str, dms_url: str, *, script_token: ScriptToken | None = None
) -> AsyncIterator[DataFeeder]:
    """Yield a feeder with ``script_token``, which may change, or with the token of the system."""
    token = None if script_token is None else ""
    async with (
        client(operator_url, seconds=30, token=token) as operator,
        client(dms_url, seconds=60, token=token) as dms,
    ):
        transient_errors: tuple[type[Exception], ...] = (
            NotAvailable,
            StorageFull,
            StorageUnavailable,
        )
        if script_token is not None:
            transient_errors = (*transient_errors, Unauthenticated)
            operator.auth = dms.auth = script_token
        yield DataFeeder(
            OperatorClient(operator), DmsClient(dms), transient_errors=transient_errors
        )
