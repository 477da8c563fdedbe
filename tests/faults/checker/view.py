"""The state of a run: its data set, its chain, and the rows of each step."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tests.faults.checker.expectation import INPUT, Expectation, ExpectedRun, Step
from tests.faults.checker.snapshot import (
    Catalogue,
    CatalogueFile,
    Row,
    Snapshot,
    get_path,
    group_rows,
)


@dataclass(frozen=True, slots=True)
class StepView:
    """``outputs`` maps ports to data sets, and ``attempts`` jobs to their attempts in order."""

    step: Step
    row: Row
    task: Row
    jobs: list[Row]
    attempts: dict[int, list[Row]]
    input: Row
    outputs: dict[str, Row]
    logs: Row


@dataclass(frozen=True, slots=True)
class RunView:
    expected: ExpectedRun
    dataset: Row
    chain: Row
    steps: dict[str, StepView]


@dataclass
class View:
    """``runs`` has the complete runs; ``missing`` describes the others."""

    state: Snapshot
    expectation: Expectation
    missing: list[str] = field(default_factory=list)

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.state)

    @cached_property
    def attempts(self) -> dict[int, list[Row]]:
        """Map each job to its attempts in order."""
        rows = sorted(self.state.rows("wms", "attempts"), key=lambda row: row["attempt"])
        return group_rows(rows, "job_id")

    @cached_property
    def runs(self) -> list[RunView]:
        return list(self._runs())

    def files(self, dataset: Row) -> list[CatalogueFile]:
        return self.catalogue.files(dataset["uid"])

    def steps(self) -> Iterator[tuple[RunView, StepView]]:
        for run in self.runs:
            for step in run.steps.values():
                yield run, step

    def _runs(self) -> Iterator[RunView]:
        chains = group_rows(self.state.rows("chains", "chains"), "dataset_uid")
        for expected in self.expectation:
            dataset = self.catalogue.by_name.get(expected.dataset)
            if dataset is None:
                self.missing.append(f"data set {expected.dataset} is not in the catalogue")
                continue
            own = [
                row
                for row in chains.get(dataset["uid"], [])
                if row["template_name"] == expected.pipeline.template
            ]
            if len(own) != 1:
                self.missing.append(
                    f"{expected.dataset} has {len(own)} chains of {expected.pipeline.template},"
                    " not 1"
                )
                continue
            steps = self._steps(expected, dataset, own[0])
            if steps is not None:
                yield RunView(expected, dataset, own[0], steps)

    def _steps(self, expected: ExpectedRun, dataset: Row, chain: Row) -> dict[str, StepView] | None:
        rows = {row["name"]: row for row in self._list_rows_of_chain("chains", "steps", chain)}
        tasks = {row["step"]: row for row in self._list_rows_of_chain("wms", "tasks", chain)}
        datasets = {
            (row["step"], row["port"]): self.catalogue.datasets.get(row["uid"])
            for row in self._list_datasets_of_chain(chain)
        }
        jobs = group_rows(
            sorted(self.state.rows("wms", "jobs"), key=lambda row: row["seq"]), "task_uid"
        )
        steps: dict[str, StepView] = {}
        for step in expected.pipeline.steps:
            source = dataset if step.source == INPUT else datasets.get(_split_source(step.source))
            outputs = {port: datasets.get((step.name, port)) for port in step.ports}
            logs = datasets.get((step.name, None))
            existing_outputs = {port: row for port, row in outputs.items() if row is not None}
            if (
                source is None
                or logs is None
                or step.name not in rows
                or step.name not in tasks
                or len(existing_outputs) != len(outputs)
            ):
                self.missing.append(
                    f"{expected.dataset}: step {step.name} lacks its row, its task or a data set"
                )
                return None
            own = jobs.get(tasks[step.name]["uid"], [])
            attempts = {job["id"]: self.attempts.get(job["id"], []) for job in own}
            steps[step.name] = StepView(
                step,
                rows[step.name],
                tasks[step.name],
                own,
                attempts,
                source,
                existing_outputs,
                logs,
            )
        return steps

    def _list_rows_of_chain(self, service: str, table: str, chain: Row) -> list[Row]:
        return [row for row in self.state.rows(service, table) if row["chain_uid"] == chain["uid"]]

    def _list_datasets_of_chain(self, chain: Row) -> list[Row]:
        return [
            row
            for row in self._list_rows_of_chain("chains", "datasets", chain)
            if row["step"] is not None
        ]


def _split_source(place: str) -> tuple[str, str]:
    step, port = place.split("/")
    return step, port


def list_job_inputs(job: Row) -> list[str]:
    """Return the names of a job's input files as its tool sees them, in order."""
    return [file["name"] for file in job["inputs"]]


def list_stored_inputs(job: Row) -> list[str]:
    """Return the names of a job's input files on the storage, in order."""
    return [get_path(file["url"]).rpartition("/")[2] for file in job["inputs"]]
