"""The list of pilots on the overview page."""

from sluice.contracts.chains.attention import NoticeList
from sluice.contracts.common.states import PilotState
from sluice.contracts.pilots.pilot_list import Pilot, PilotList
from tests.unit.operator.pilots import make_pilot
from wfms.operator.monitoring.domain.overview import MAX_PILOTS, Overview


def test_busy_slots_of_a_pilot_never_exceed_its_slots() -> None:
    assert make_pilot(state=PilotState.ACTIVE, leased=5).busy_slots == 2
    assert make_pilot(state=PilotState.ACTIVE, leased=1).busy_slots == 1
    assert make_pilot(state=PilotState.LOST, leased=5).busy_slots == 0


def test_pilot_list_is_limited_to_present_and_unacknowledged_pilots_first() -> None:
    gone_pilots = [
        make_pilot(f"gone-{number}", state=PilotState.GONE, registered=number)
        for number in range(MAX_PILOTS)
    ]
    lost = [make_pilot(f"lost-{number}", registered=-number) for number in range(3)]
    active = make_pilot("active", state=PilotState.ACTIVE, registered=-9)
    page = make_overview([*gone_pilots, *lost, active])
    names = [pilot.name for pilot in page.listed_pilots]
    assert names[:5] == ["active", "lost-0", "lost-1", "lost-2", "gone-49"], (
        "the latest gone pilots follow the lost pilots"
    )
    assert (len(names), page.more_pilots) == (MAX_PILOTS, 4)
    assert (
        make_overview(lost).more_pilots,
        make_overview(None).more_pilots,
        make_overview(None).listed_pilots,
    ) == (0, 0, [])


def test_present_pilots_are_listed_first_in_order_of_registration() -> None:
    listed = make_overview(
        [
            make_pilot("gone", state=PilotState.GONE, registered=-9),
            make_pilot("second", state=PilotState.DRAINING, registered=2),
            make_pilot("lost", registered=9),
            make_pilot("first", state=PilotState.ACTIVE, registered=1),
        ]
    ).listed_pilots
    assert [pilot.name for pilot in listed] == ["first", "second", "lost", "gone"]


def make_overview(pilots: list[Pilot] | None) -> Overview:
    none = NoticeList(notices=[])
    listed = None if pilots is None else PilotList(pilots=pilots, total=len(pilots))
    return Overview(
        running=[], ended=[], chains=None, work=None, pilots=listed, attention=none, templates=0
    )
