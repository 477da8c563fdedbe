"""A chain as the rules of this domain see it: what is stored of it, without times and texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.plan import Plan
from sluice.contracts.states import ChainDatasetStatus, ChainState, DatasetType, StepState


@dataclass(frozen=True, slots=True)
class StepView:
    """``tried``: its start was begun at least once, so the DMS may know its data sets. ``sent``:
    the WMS has (had) its task, or that of the step that it was taken over from. ``taken_from``: the
    chain whose task did it; ``jobs_from``: the chain whose task did some of its jobs."""

    state: StepState
    tried: bool = False
    sent: bool = False
    failed_jobs: int = 0
    taken_from: UUID | None = None
    jobs_from: UUID | None = None


@dataclass(frozen=True, slots=True)
class DatasetView:
    """``port`` None: the step's logs; ``step`` None: the chain's input, or with ``port`` the file
    that is the value of that parameter. ``uploaded``: safe on the output storage."""

    uid: UUID
    step: str | None
    port: str | None
    status: ChainDatasetStatus
    uploaded: bool = False

    @property
    def kept(self) -> bool:
        """It was not given up."""
        return self.status is not ChainDatasetStatus.FINISHED


@dataclass(frozen=True, slots=True)
class ChainView:
    """``ending``: how it will end once its running tasks have stopped (failed or canceled), None
    while it goes well.

    ``upload_asked``: its outputs are (or were) on the way to the output storage. ``input_kept``:
    somebody else still needs the first input (another chain runs over it, or wants it kept).
    ``passing``: data sets given as parameters that go with the chain, and that nobody else needs.
    ``discarded``: nothing of it is to be kept once it is over; ``used``: its outputs that somebody
    else needs. ``kept``: should it fail or be canceled, what a rerun could use stays (still).

    ``input_copied``: the first input is a copy, of which the original is elsewhere. ``unsettled``:
    jobs of it failed, and nobody has decided yet what becomes of what they read."""

    plan: Plan
    state: ChainState
    ending: ChainState | None
    upload_asked: bool
    input_type: DatasetType
    input_kept: bool
    steps: Mapping[str, StepView]
    datasets: Sequence[DatasetView]
    passing: frozenset[UUID] = frozenset()
    discarded: bool = False
    used: frozenset[UUID] = frozenset()
    kept: bool = False
    input_copied: bool = False
    unsettled: bool = False

    @property
    def given_up(self) -> bool:
        """It is over, and nothing of it is to be kept."""
        return self.discarded and self.state.final

    @property
    def withdrawn(self) -> bool:
        """It is canceled although its outputs were on their way to the output storage."""
        return self.upload_asked and self.ending is ChainState.CANCELED

    @property
    def kept_for_rerun(self) -> bool:
        return self.kept and self.ending is not None and not self.given_up

    @property
    def holds_failures(self) -> bool:
        """Is what its failed jobs read kept until somebody decides?"""
        return self.unsettled and self.ending is None and not self.given_up

    def dataset(self, step: str | None, port: str | None) -> DatasetView | None:
        for dataset in self.datasets:
            if (dataset.step, dataset.port) == (step, port):
                return dataset
        return None
