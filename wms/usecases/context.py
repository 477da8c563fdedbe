"""The context of the use cases of the WMS."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sluice.contracts.jobs.times import Timeline
from sluice.servicekit.database import Database
from wms.db.pilots.pilot_times import Stragglers
from wms.db.tasks.task_cache import TaskCache
from wms.domain.placement.loading import KindFacts
from wms.domain.placement.policy import Policy
from wms.domain.placement.reward_rate import RewardRate
from wms.domain.scheduling.matching import PilotNode
from wms.domain.scheduling.rank import RankWeights
from wms.domain.times import Samples
from wms.metrics import WmsMetrics
from wms.usecases.leasing.other_pilots import OtherPilots
from wms.usecases.leasing.pilot_limits import PilotLimitsByWork
from wms.usecases.reports.attempt_end_buffer import AttemptEndBuffer
from wms.usecases.reports.check_outputs import OutputCheck
from wms.usecases.ttl_cache import TtlCache
from wms.usecases.work_signal import WorkSignal


@dataclass(frozen=True, slots=True)
class WmsRules:
    """Times in seconds, and limits; the defaults are in the settings.

    Attributes:
        heartbeat: Interval of the heartbeats of pilots.
        lease: Silence after which a pilot loses its jobs.
        grace: Time after the lease before its jobs are leased again (invariant 6).
        pilot_timeout: Silence after which a pilot counts as lost.
        poll_period: Interval between two checks for work while a request waits.
        max_node_losses: Number of nodes lost in a row that quarantines a job.
        deadline_grace: Time that a job may exceed its own limits.
        fit_grace: Time before jobs that fit no pilot are said to fit none forever.
    """

    heartbeat: float
    lease: float
    grace: float
    pilot_timeout: float
    poll_period: float
    max_node_losses: int
    deadline_grace: float
    fit_grace: float

    @property
    def lease_duration(self) -> timedelta:
        """The lease, for the database."""
        return timedelta(seconds=self.lease)


@dataclass(frozen=True, slots=True)
class WmsContext:
    """The context of the use cases."""

    database: Database
    rules: WmsRules
    tasks: TaskCache = field(default_factory=TaskCache)
    signal: WorkSignal = field(default_factory=WorkSignal)
    live_times: TtlCache[Samples] = field(default_factory=TtlCache)
    timelines: TtlCache[Timeline] = field(default_factory=TtlCache)
    stragglers: TtlCache[Stragglers] = field(default_factory=TtlCache)
    other_pilots: TtlCache[OtherPilots] = field(default_factory=TtlCache)
    kinds: TtlCache[dict[str, KindFacts]] = field(default_factory=TtlCache)
    pilot_limits: TtlCache[PilotLimitsByWork] = field(default_factory=TtlCache)
    ends: AttemptEndBuffer = field(default_factory=AttemptEndBuffer)
    #: Tasks whose jobs wait for space on a storage, as far as this instance knows.
    waiting_for_space: set[UUID] = field(default_factory=set)
    #: URL → name of the storages for which the DMS was told that jobs wait for space.
    space_needed: dict[str, str] = field(default_factory=dict)
    #: URLs of the storages that were full at the last check.
    full_storages: set[str] = field(default_factory=set)
    metrics: WmsMetrics = field(default_factory=WmsMetrics)
    rank_weights: RankWeights = field(default_factory=RankWeights)
    #: The placement policy of warm workers.
    policy: Policy = field(default_factory=RewardRate)
    #: Checks outputs. None means that they are accepted as pilots report them.
    output_check: OutputCheck | None = None
    #: Nodes that can be launched in addition to the present ones; None if not configured.
    launchable: Sequence[PilotNode] | None = None
