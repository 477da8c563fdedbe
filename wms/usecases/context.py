"""What the use cases of the WMS work with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sluice.contracts.times import Timeline
from sluice.servicekit.database import Database
from wms.db.task_cache import TaskCache
from wms.db.worker_times import Stragglers
from wms.domain.loading import KindFacts
from wms.domain.matching import PilotNode
from wms.domain.placement import Policy
from wms.domain.rank import RankWeights
from wms.domain.reward_rate import RewardRate
from wms.domain.times import Samples
from wms.metrics import WmsMetrics
from wms.usecases.counted_lately import CountedLately
from wms.usecases.look_at_outputs import LookAtOutputs
from wms.usecases.rivals import Rivals
from wms.usecases.seen_ends import SeenEnds
from wms.usecases.trust_workers import Distrust
from wms.usecases.work_signal import WorkSignal


@dataclass(frozen=True, slots=True)
class Terms:
    """Seconds: ``heartbeat`` asked of pilots; ``lease`` after which a silent pilot's jobs are given
    away, ``grace`` later at the soonest (invariant 6); ``unseen`` after which a pilot counts as
    lost; ``poll`` between two looks for work of a waiting request. ``losses``: nodes lost in a row
    that make a job wait for a person. ``deadline_grace`` beyond what a job may take by its own
    limits; ``fit_grace`` until jobs that fit no pilot are said to fit none for ever. The defaults
    stand in the settings."""

    heartbeat: float
    lease: float
    grace: float
    unseen: float
    poll: float
    losses: int
    deadline_grace: float
    fit_grace: float

    @property
    def span(self) -> timedelta:
        """The lease, for the database."""
        return timedelta(seconds=self.lease)


@dataclass(frozen=True, slots=True)
class WmsContext:
    database: Database
    terms: Terms
    tasks: TaskCache = field(default_factory=TaskCache)
    signal: WorkSignal = field(default_factory=WorkSignal)
    live_times: CountedLately[Samples] = field(default_factory=CountedLately)
    timelines: CountedLately[Timeline] = field(default_factory=CountedLately)
    stragglers: CountedLately[Stragglers] = field(default_factory=CountedLately)
    rivals: CountedLately[Rivals] = field(default_factory=CountedLately)
    kinds: CountedLately[dict[str, KindFacts]] = field(default_factory=CountedLately)
    distrust: CountedLately[Distrust] = field(default_factory=CountedLately)
    ends: SeenEnds = field(default_factory=SeenEnds)
    #: Tasks whose jobs wait for room on a storage, as far as this instance knows.
    waiting_for_room: set[UUID] = field(default_factory=set)
    #: URL → name of the storages of which the DMS was told that jobs wait for room there.
    room_needed: dict[str, str] = field(default_factory=dict)
    #: URLs of the storages that were full at the last look.
    full_storages: set[str] = field(default_factory=set)
    metrics: WmsMetrics = field(default_factory=WmsMetrics)
    rank_weights: RankWeights = field(default_factory=RankWeights)
    #: Of what is loaded where.
    policy: Policy = field(default_factory=RewardRate)
    #: None: outputs are taken as pilots name them.
    look_at_outputs: LookAtOutputs | None = None
    #: Nodes that can be launched beside those that are there; None: nobody has said.
    launchable: Sequence[PilotNode] | None = None
