"""Tests of the order in which a slot gets jobs, secrets and stops."""

import asyncio
from pathlib import Path

from pydantic import SecretStr

from pilot.dispatch import Dispatch
from pilot.domain.model import StopReason
from pilot.runner.protocol import ForgetFrame, JobFrame, StopFrame, ToSlot
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.contracts.pilots.leases import JobToken, LeasedJob
from tests.unit.pilot.builders import SHA, make_task
from tests.waiting import eventually

TASK = make_task(Path("/nowhere"), SHA)
VALUE = SecretValues(values={"key": SecretStr("hunter2")})


def make_job(number: int) -> LeasedJob:
    return LeasedJob(id=number, attempt=1, task_uid=TASK.uid, seq=number, inputs=[])


def make_stop(number: int) -> StopFrame:
    return StopFrame(id=number, attempt=1, reason=StopReason.CANCEL)


class DispatchFixture:
    """A dispatch with a WMS that gives the queued ``answers``, and no answer while the queue is
    empty."""

    def __init__(self) -> None:
        self.sent: list[ToSlot] = []
        self.answers: asyncio.Queue[SecretValues | Exception] = asyncio.Queue()
        self.requested_jobs: list[int] = []
        self.dispatch = Dispatch(lambda _slot, frame: self.sent.append(frame), self._ask)

    async def _ask(self, token: JobToken) -> SecretValues:
        self.requested_jobs.append(token.id)
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def require_sent(self, number: int) -> None:
        await eventually(lambda: len(self.sent) == number, what=lambda: repr(self.sent))


async def test_frames_behind_a_job_with_secrets_keep_their_order() -> None:
    scene = DispatchFixture()
    forget = ForgetFrame(uid=TASK.uid)
    scene.dispatch.send(0, forget)
    scene.dispatch.send_with_secrets(0, JobFrame(job=make_job(1)))
    scene.dispatch.send(0, JobFrame(job=make_job(2)))
    scene.dispatch.send_with_secrets(0, JobFrame(job=make_job(3)))
    await eventually(
        lambda: scene.requested_jobs == [1, 3],
        what="both jobs with secrets are asked for at the same time",
    )
    assert scene.sent == [forget]
    for _ in range(2):
        scene.answers.put_nowait(VALUE)
    await scene.require_sent(4)
    assert scene.sent[1:] == [
        JobFrame(job=make_job(1), secrets=VALUE.values),
        JobFrame(job=make_job(2)),
        JobFrame(job=make_job(3), secrets=VALUE.values),
    ]
    scene.dispatch.send(0, forget)
    assert len(scene.sent) == 5, "the frame is sent at once when no secrets are pending"


async def test_stop_of_a_running_job_is_sent_at_once() -> None:
    scene = DispatchFixture()
    scene.dispatch.send(0, JobFrame(job=make_job(1)))
    scene.dispatch.send_with_secrets(0, JobFrame(job=make_job(2)))
    scene.dispatch.send(0, make_stop(1))
    assert scene.sent[-1] == make_stop(1)
    scene.dispatch.forget(0)


async def test_job_with_a_pending_stop_is_sent_without_its_secrets() -> None:
    scene = DispatchFixture()
    scene.dispatch.send_with_secrets(0, JobFrame(job=make_job(1)))
    scene.dispatch.send(0, make_stop(1))
    await scene.require_sent(1)
    assert scene.sent == [JobFrame(job=make_job(1), stop=StopReason.CANCEL)]


async def test_secrets_are_requested_again_until_the_wms_answers_and_refusals_are_sent() -> None:
    scene = DispatchFixture()
    for answer in (NotAvailable("away"), Conflict("it was removed")):
        scene.answers.put_nowait(answer)
    scene.dispatch.send_with_secrets(0, JobFrame(job=make_job(1)))
    await scene.require_sent(1)
    assert scene.requested_jobs == [1, 1]
    assert scene.sent == [JobFrame(job=make_job(1), trouble="it was removed")]


async def test_frames_of_a_lost_slot_are_not_sent_to_its_replacement() -> None:
    scene = DispatchFixture()
    scene.dispatch.send_with_secrets(0, JobFrame(job=make_job(1)))
    scene.dispatch.send(0, JobFrame(job=make_job(2)))
    scene.dispatch.forget(0)
    scene.answers.put_nowait(VALUE)
    scene.dispatch.send(0, JobFrame(job=make_job(3)))
    for _ in range(10):
        await asyncio.sleep(0)
    assert scene.sent == [JobFrame(job=make_job(3))]
