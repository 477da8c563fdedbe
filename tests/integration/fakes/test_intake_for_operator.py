"""The operator tests' fake intake matches data sets as the real one."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sluice.clients.intake import IntakeClient
from sluice.contracts.templates.conditions import Equals
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.integration.fakes.two_services import (
    CONFLICT,
    NOT_FOUND,
    REAL,
    get_refusal,
    make_http_client,
)
from tests.integration.operator.fakes.neighbours import Neighbours
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_three_steps
from wfms.intake.api.dependencies import IntakeWakes
from wfms.intake.api.schedules import router as schedules_router
from wfms.intake.api.unmatched import router as unmatched_router

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = (f"n{number}" for number in count())


@dataclass
class Intake:
    """One of the two. All rows come from the real intake; ``neighbours`` is the fake."""

    client: IntakeClient
    real: IntakeClient
    wfms: WfmsFixture
    neighbours: Neighbours | None

    async def unmatched(self, kind: str) -> UUID:
        """Return a data set of this kind that no template has taken."""
        dataset = await self.wfms.create_input(next(NAMES), meta={"kind": kind})
        while await self.wfms.match_datasets():
            pass
        await self.copy_rows()
        if self.neighbours is not None:
            self.neighbours.datasets[dataset.uid] = dataset
        return dataset.uid

    def add_template(self, kind: str, *uids: UUID) -> str:
        """Add a template that takes this kind of data sets, which are ``uids``."""
        template = self.wfms.add_template(
            make_three_steps(match={"kind": Equals(value=kind)}), name=next(NAMES)
        )
        if self.neighbours is not None:
            self.neighbours.rematches.update(dict.fromkeys(uids, template.name))
        return template.name

    async def delete(self, uid: UUID) -> None:
        dataset = await self.wfms.dms.delete_dataset(uid)
        if self.neighbours is not None:
            self.neighbours.datasets[uid] = dataset

    async def copy_rows(self) -> None:
        if self.neighbours is not None:
            self.neighbours.unmatched.clear()
            # Like tests, which add rows in the order of time.
            for row in reversed((await self.real.list_unmatched()).datasets):
                self.neighbours.unmatched[row.dataset_uid] = row

    async def listed(self) -> list[UUID]:
        return [one.dataset_uid for one in (await self.client.list_unmatched()).datasets]


def ignore() -> None:
    """Do nothing: there is no loop to wake."""


@pytest_asyncio.fixture(loop_scope="module")
async def intake(kind: str, wfms: WfmsFixture) -> Intake:
    await wfms.fetch_rows("wfms.intake", "TRUNCATE unmatched, handovers")
    wfms.templates.clear()
    context = wfms.intake_context
    app = create_app(
        "wfms.intake",
        [unmatched_router, schedules_router],
        health=Health({}),
        metrics=ServiceMetrics(),
        provide=[context, IntakeWakes(ignore)],
    )
    real = IntakeClient(make_http_client(app, "wfms.intake"))
    if kind == REAL:
        return Intake(real, real, wfms, None)
    neighbours = Neighbours()
    client = IntakeClient(make_http_client(neighbours.apps["wfms.intake"], "wfms.intake"))
    return Intake(client, real, wfms, neighbours)


async def test_newest_unmatched_data_sets_come_first(intake: Intake) -> None:
    first, second = await intake.unmatched("raw"), await intake.unmatched("raw")
    assert await intake.listed() == [second, first]
    part = await intake.client.list_unmatched(limit=1)
    assert ([one.dataset_uid for one in part.datasets], part.total) == ([second], 2)
    assert part.datasets[0].reason


async def test_data_set_is_dismissed_once(intake: Intake) -> None:
    uid = await intake.unmatched("raw")
    await intake.client.dismiss_unmatched(uid)
    assert await intake.listed() == []
    assert await get_refusal(intake.client.dismiss_unmatched(uid)) == NOT_FOUND


async def test_data_sets_that_were_unmatched_by_a_time_are_dismissed(intake: Intake) -> None:
    first, second = await intake.unmatched("raw"), await intake.unmatched("raw")
    [_, oldest] = (await intake.client.list_unmatched()).datasets
    assert oldest.dataset_uid == first
    before = oldest.since - timedelta(seconds=1)
    assert (await intake.client.dismiss_all_unmatched(until=before)).dismissed == 0
    assert (await intake.client.dismiss_all_unmatched(until=oldest.since)).dismissed == 1
    assert await intake.listed() == [second]
    later = datetime.now(UTC) + timedelta(hours=1)
    assert (await intake.client.dismiss_all_unmatched(until=later)).dismissed == 1


async def test_data_set_that_no_template_takes_stays_unmatched(intake: Intake) -> None:
    uid = await intake.unmatched("raw")
    rematched = await intake.client.rematch(dataset_uid=uid)
    assert rematched.template is None
    assert rematched.reason
    assert await intake.listed() == [uid]


async def test_data_set_that_a_template_takes_is_no_longer_unmatched(intake: Intake) -> None:
    uid = await intake.unmatched("raw")
    name = intake.add_template("raw", uid)
    rematched = await intake.client.rematch(dataset_uid=uid)
    assert (rematched.template, rematched.reason) == (name, "")
    assert await intake.listed() == []
    assert await get_refusal(intake.client.rematch(dataset_uid=uid)) == NOT_FOUND


async def test_unknown_data_set_is_not_found(intake: Intake) -> None:
    assert await get_refusal(intake.client.rematch(dataset_uid=uuid4())) == NOT_FOUND
    assert await get_refusal(intake.client.dismiss_unmatched(uuid4())) == NOT_FOUND


async def test_deleted_data_set_is_removed_when_it_is_matched_again(intake: Intake) -> None:
    uid = await intake.unmatched("raw")
    await intake.delete(uid)
    assert await get_refusal(intake.client.rematch(dataset_uid=uid)) == CONFLICT
    assert await intake.listed() == []


async def test_all_data_sets_are_matched_again(intake: Intake) -> None:
    taken, gone = await intake.unmatched("raw"), await intake.unmatched("raw")
    left = await intake.unmatched("cooked")
    intake.add_template("raw", taken)
    await intake.delete(gone)
    counts = await intake.client.rematch_all()
    assert (counts.matched, counts.gone, counts.left) == (1, 1, 1)
    assert await intake.listed() == [left]


async def test_there_are_no_ties_and_schedules_at_first(intake: Intake) -> None:
    assert (await intake.client.list_ties()).ties == []
    assert await intake.client.get_schedule("weekly") is None
    assert await intake.client.get_waiting_handover(dataset_uid=uuid4()) is None
    assert await intake.client.get_max_generations() > 0
