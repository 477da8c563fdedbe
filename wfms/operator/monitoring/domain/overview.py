"""The data of the first page: counts, and what needs a person."""

from dataclasses import dataclass, field

from sluice.contracts.chains.attention import ChainCounts, NoticeList, WorkCounts
from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.limits import ResourceLimit
from sluice.contracts.pilots.pilot_list import Pilot, PilotList
from wfms.operator.chains.domain.progress import ChainProgress

_PRESENT = frozenset({PilotState.ACTIVE, PilotState.DRAINING})
#: Pilots that the page lists.
MAX_PILOTS = 50


def _rank_pilot(pilot: Pilot) -> tuple[bool, bool, float]:
    """Return the sort key: present, lost and unacknowledged, others; each last seen first."""
    unseen = pilot.state is PilotState.LOST and pilot.acknowledged is None
    return pilot.state not in _PRESENT, not unseen, -pilot.seen_at.timestamp()


@dataclass(frozen=True, slots=True)
class Overview:
    """The content of the first page; a value is None if its service does not know it."""

    running: list[ChainProgress]
    ended: list[ChainProgress]
    chains: ChainCounts | None
    work: WorkCounts | None
    pilots: PilotList | None
    attention: NoticeList
    templates: int
    limits: list[ResourceLimit] = field(default_factory=list)

    @property
    def chains_running(self) -> int | None:
        """The number of running chains, if it is known."""
        return None if self.chains is None else self.chains.in_progress + self.chains.uploading

    @property
    def listed_pilots(self) -> list[Pilot]:
        """The most important pilots, as far as there is space.

        Present pilots come first by their registration, then lost and gone ones, last seen first.
        """
        chosen = sorted([] if self.pilots is None else self.pilots.pilots, key=_rank_pilot)[
            :MAX_PILOTS
        ]
        present = [pilot for pilot in chosen if pilot.state in _PRESENT]
        return sorted(present, key=lambda pilot: pilot.registered_at) + chosen[len(present) :]

    @property
    def more_pilots(self) -> int:
        """The number of pilots that are not listed."""
        return 0 if self.pilots is None else self.pilots.total - len(self.listed_pilots)

    @property
    def more_running(self) -> int:
        """The number of running chains that are not listed."""
        return max(0, (self.chains_running or 0) - len(self.running))
