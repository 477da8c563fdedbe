"""A chain that is simulated in memory: it applies the next actions and records what happened."""

from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetType, StepState
from sluice.contracts.templates.plan import Plan
from wfms.chains.domain.chain import ChainView, DatasetView, StepView
from wfms.chains.domain.next_actions import NextActions, next_actions, outputs
from wfms.chains.domain.tasks import ports
from wfms.chains.domain.transitions import CHAIN_MOVES, DATASET_MOVES, STEP_MOVES

SPACE = UUID(int=7)
INPUT = UUID(int=1)


def make_uid(step: str, port: str | None) -> UUID:
    return uuid5(SPACE, f"{step}/{port}")


@dataclass
class Simulation:
    plan: Plan
    input_needed: bool = False
    input_copied: bool = False
    input_type: DatasetType = DatasetType.INPUT
    started_steps: list[str] = field(default_factory=list)
    released_datasets: list[UUID] = field(default_factory=list)
    uploads: list[UUID] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.view = ChainView(
            plan=self.plan,
            state=ChainState.IN_PROGRESS,
            ending=None,
            upload_requested=False,
            input_type=self.input_type,
            input_needed=self.input_needed,
            input_copied=self.input_copied,
            steps={step.name: StepView(StepState.PENDING) for step in self.plan.steps},
            datasets=[DatasetView(INPUT, None, None, ChainDatasetStatus.READY)],
        )
        self.advance()

    def move_step(self, name: str, to: StepState, **more: int | bool) -> None:
        now = self.view.steps[name]
        assert to in STEP_MOVES[now.state], f"{name}: {now.state} → {to}"
        changed = replace(now, state=to, **more)  # type: ignore[arg-type] # names of StepView's fields
        self.view = replace(self.view, steps={**self.view.steps, name: changed})

    def move_datasets(self, uids: list[UUID], to: ChainDatasetStatus) -> None:
        changed = []
        for dataset in self.view.datasets:
            if dataset.uid in uids:
                assert to in DATASET_MOVES[dataset.status], f"{dataset}: → {to}"
                dataset = replace(dataset, status=to)  # noqa: PLW2901 - the moved data set replaces it
            changed.append(dataset)
        self.view = replace(self.view, datasets=changed)

    def advance(self) -> None:
        todo = next_actions(self.view)
        for name in todo.start:
            self.move_step(name, StepState.STARTING)
        for name in todo.cancel:
            self.move_step(name, StepState.CANCELED)
        self.move_datasets(list(todo.ready), ChainDatasetStatus.READY)
        self.move_datasets(list(todo.release), ChainDatasetStatus.FINISHED)
        self.released_datasets += todo.release
        self.uploads += todo.upload
        if todo.state is not self.view.state:
            assert todo.state in CHAIN_MOVES[self.view.state]
            upload_requested = self.view.upload_requested or todo.state is ChainState.UPLOADING
            self.view = replace(self.view, state=todo.state, upload_requested=upload_requested)
        again = next_actions(self.view)
        assert again == NextActions(state=self.view.state), (
            "the rules must have nothing more to do after their own actions"
        )

    @property
    def state(self) -> ChainState:
        return self.view.state

    def has_reached(self, state: ChainState) -> bool:
        return self.view.state is state

    def list_steps(self, state: StepState) -> list[str]:
        return [name for name, step in self.view.steps.items() if step.state is state]

    def try_start(self, name: str) -> None:
        """Record a start that was attempted and interrupted."""
        self.view = replace(
            self.view, steps={**self.view.steps, name: replace(self.view.steps[name], tried=True)}
        )

    def start(self, name: str) -> None:
        datasets = [
            DatasetView(make_uid(name, port), name, port, ChainDatasetStatus.IN_PROGRESS)
            for port in ports(self.plan, name)
        ]
        self.view = replace(self.view, datasets=[*self.view.datasets, *datasets])
        if self.view.ending is None:
            self.started_steps.append(name)
            self.move_step(name, StepState.IN_PROGRESS, tried=True, sent=True)
        else:
            self.move_step(name, StepState.CANCELED)
        self.advance()

    def end(self, name: str, state: StepState, failed_jobs: int = 0) -> None:
        self.move_step(name, state, failed_jobs=failed_jobs)
        if failed_jobs:
            self.view = replace(self.view, unsettled=True)
        if state is not StepState.FINISHED:
            self.begin_ending(ChainState(str(state)))
        self.advance()

    def begin_ending(self, ending: ChainState) -> None:
        self.view = replace(self.view, ending=self.view.ending or ending)
        self.advance()

    def settle_failed_jobs(self) -> None:
        """Record that a person has decided about the failed jobs."""
        self.view = replace(self.view, unsettled=False)
        self.advance()

    def discard(self) -> None:
        self.view = replace(self.view, discarded=True, unsettled=False)
        self.advance()

    def finish_upload(self, uid: UUID) -> None:
        self.view = replace(
            self.view,
            datasets=[
                replace(dataset, uploaded=True) if dataset.uid == uid else dataset
                for dataset in self.view.datasets
            ],
        )
        self.advance()

    def output_uids(self) -> set[UUID]:
        return {output.uid for output in outputs(self.view)}
