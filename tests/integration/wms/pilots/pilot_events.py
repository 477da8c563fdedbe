"""Events of the life of a pilot."""

from uuid import UUID

from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from tests.integration.wms.wms_fixture import WmsFixture
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot


async def register(wms: WmsFixture, uid: UUID) -> None:
    node = NodeResources(cores=1, ram=1, disk=1)
    pilot = RegisterPilot(uid=uid, name="p", host="h", slots=1, resources=node, version="1")
    await register_pilot(wms.context, pilot)


async def sign_off(wms: WmsFixture, uid: UUID) -> None:
    await sign_off_pilot(wms.context, uid, [])


async def expire_silent_pilot(wms: WmsFixture, uid: UUID) -> None:
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '1 day' WHERE uid = $1", uid)
    await lose_pilots(wms.context)
