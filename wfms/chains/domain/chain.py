"""A chain as the rules of this package see it: its stored state without times and texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetType, StepState
from sluice.contracts.templates.plan import Plan


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a chain.

    Attributes:
        tried: Its start was attempted at least once, so the DMS may know its data sets.
        sent: The WMS has or had its task, or the task of the step that it was taken over from.
        taken_from: The chain whose task did the whole step.
        jobs_from: The chain whose task did some of its jobs.
    """

    state: StepState
    tried: bool = False
    sent: bool = False
    failed_jobs: int = 0
    taken_from: UUID | None = None
    jobs_from: UUID | None = None


@dataclass(frozen=True, slots=True)
class DatasetView:
    """A data set of a chain.

    Attributes:
        step: The step that writes it. None for the chain's input and for the file of a parameter.
        port: The output port of the step, or the parameter. None for the step's logs and for the
            chain's input.
        uploaded: It is safe on the output storage.
    """

    uid: UUID
    step: str | None
    port: str | None
    status: ChainDatasetStatus
    uploaded: bool = False

    @property
    def is_retained(self) -> bool:
        """Return whether the chain has not released it."""
        return self.status is not ChainDatasetStatus.FINISHED


@dataclass(frozen=True, slots=True)
class ChainView:
    """A chain with its steps and data sets.

    Attributes:
        ending: The state in which it will end once its running tasks have stopped (failed or
            canceled). None while all goes well.
        upload_requested: The upload of its outputs was requested.
        input_needed: Somebody else still needs the first input: another chain runs over it or wants
            it kept.
        disposable_files: Data sets given as parameters that are deleted with the chain. Nothing
            else needs them.
        discarded: None of its data is kept once it is over.
        used: Its outputs that somebody else needs.
        within_retention: If it fails or is canceled, data that a rerun could use is still kept.
        input_copied: The first input is a copy; the original is elsewhere.
        unsettled: Some of its jobs failed, and nobody has decided yet about the data that they
            read.
    """

    plan: Plan
    state: ChainState
    ending: ChainState | None
    upload_requested: bool
    input_type: DatasetType
    input_needed: bool
    steps: Mapping[str, StepView]
    datasets: Sequence[DatasetView]
    disposable_files: frozenset[UUID] = frozenset()
    discarded: bool = False
    used: frozenset[UUID] = frozenset()
    within_retention: bool = False
    input_copied: bool = False
    unsettled: bool = False

    @property
    def keeps_nothing(self) -> bool:
        """Return whether the chain is over and none of its data is kept."""
        return self.discarded and self.state.final

    @property
    def withdrawn(self) -> bool:
        """Return whether it was canceled after the upload of its outputs was requested."""
        return self.upload_requested and self.ending is ChainState.CANCELED

    @property
    def retains_rerun_data(self) -> bool:
        """Return whether the chain keeps data for a rerun because it failed or was canceled."""
        return self.within_retention and self.ending is not None and not self.keeps_nothing

    @property
    def holds_failures(self) -> bool:
        """Return whether the input of its failed jobs is kept until somebody decides."""
        return self.unsettled and self.ending is None and not self.keeps_nothing

    def dataset(self, step: str | None, port: str | None) -> DatasetView | None:
        """Return the data set of a step and port, or None."""
        for dataset in self.datasets:
            if (dataset.step, dataset.port) == (step, port):
                return dataset
        return None
