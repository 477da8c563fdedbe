"""The detector template through the whole system, compared with the truth of the generator."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest
from spd.report import read_events
from spd.truth import expected_events

from sluice.contracts.chains.attention import NoticeList, Subject
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.states import ChainState, DatasetState, StepState
from sluice.contracts.data.datasets import FilePage
from sluice.network.credentials import headers_for
from tests.e2e.conftest import Scene
from tests.e2e.packs.spd_runs import (
    FinishedChain,
    GeneratedRun,
    follow_runs,
    generate_run,
    process_runs,
)
from tests.e2e.systems import System
from tests.waiting import wait_until

#: Seconds for the consequences of a chain's end, such as the deletion of its input.
CLEANUP_SECONDS = 30.0


def find_catalogued(system: System) -> dict[str, set[str]]:
    """Map the state of data sets to the paths of their files in the catalogue."""
    names_by_state: dict[str, set[str]] = {}
    with httpx.Client(
        base_url=system.dms_url, timeout=30, headers=headers_for(system.dms_url)
    ) as dms:
        states = [("state", state.value) for state in DatasetState]
        for dataset in (
            dms.get("/api/v1/datasets", params=[*states, ("limit", "1000")])
            .raise_for_status()
            .json()["datasets"]
        ):
            page = FilePage.model_validate(
                dms.get(f"/api/v1/datasets/{dataset['uid']}/files").raise_for_status().json()
            )
            names_by_state.setdefault(dataset["state"], set()).update(
                file.url.removeprefix("file://") for file in page.files
            )
    return names_by_state


def acknowledge_failures(system: System) -> None:
    """Acknowledge failed jobs of finished chains, so that their inputs are deleted."""
    with httpx.Client(base_url=system.url, timeout=30, headers=headers_for(system.url)) as operator:
        answer = operator.get("/api/v1/attention").raise_for_status()
        for notice in NoticeList.model_validate(answer.json()).notices:
            subject = None if notice.id is None else notice.subject_of(notice.id)
            if subject is not None and subject[0] is Subject.FAILURES:
                operator.post(
                    f"/api/v1/chains/{subject[1]}/acknowledge", json={"by": "shift"}
                ).raise_for_status()


def assert_storages_clean(system: System, finished_chains: Sequence[FinishedChain]) -> None:
    """Require that only outputs and logs remain, and that catalogue and storages are equal."""
    acknowledge_failures(system)
    untidy: list[str] = []

    def is_clean() -> bool:
        untidy[:] = find_untidy(system, finished_chains)
        return not untidy

    wait_until(
        is_clean,
        what=lambda: "\n".join(["everything is cleaned up:", *untidy]),
        seconds=CLEANUP_SECONDS,
    )


def find_untidy(system: System, finished_chains: Sequence[FinishedChain]) -> list[str]:
    """Return what is not cleaned up, in words.

    Other tests may have used the system, too: the chains have to be clean, and the catalogue
    correct for all.
    """
    inputs, intermediate, output = (
        system.storage_files(kind) for kind in ("input", "intermediate", "output")
    )
    untidy = [
        f"input not released: {path}"
        for one in finished_chains
        for path in inputs
        if path.parent.name == one.chain.dataset_name
    ]
    untidy += [
        f"intermediate: {path}"
        for one in finished_chains
        for path in list_chain_files(one, intermediate)
    ]
    untidy += [
        "outputs of " + str(one.chain.uid)
        for one in finished_chains
        if len(list_chain_files(one, output)) != len(one.outputs)
    ]
    catalogued = find_catalogued(system)
    live = set().union(
        *(
            paths
            for state, paths in catalogued.items()
            if state in {DatasetState.CLOSED, DatasetState.UPLOADED}
        )
    )
    on_disk = {
        str(path)
        for kind in ("input", "intermediate", "output", "logs")
        for path in system.storage_files(kind)
    }
    return untidy + [f"on one side only: {path}" for path in sorted(on_disk ^ live)]


def list_chain_files(finished_chain: FinishedChain, files: Sequence[Path]) -> list[Path]:
    """Return the files of the chain's data sets, which are named after the chain."""
    return [path for path in files if str(finished_chain.chain.uid) in path.parent.name]


def assert_events(run: GeneratedRun, finished_chain: FinishedChain) -> None:
    assert finished_chain.chain.state is ChainState.FINISHED, finished_chain.chain.reason
    assert len(finished_chain.list_merged_files()) >= 1
    assert read_events(finished_chain.list_merged_files()) == expected_events(run.truth)


def test_concurrent_runs_give_exactly_the_true_events(tmp_path: Path, scene: Scene) -> None:
    """Invariants 4, 7 and 8: the order is kept, the damaged frame is named, inputs are released
    when the output is safe, and no other file is left.
    """
    runs = [generate_run(tmp_path, 1, frames=4), generate_run(tmp_path, 2, frames=10, damage=5)]
    with scene() as system:
        first, second = process_runs(system.url, runs, out=tmp_path / "out")
        assert_events(runs[0], first)
        assert_events(runs[1], second)
        assert list(first.failures) == []
        [(step, job)] = second.failures
        assert step == "decode"
        assert job.inputs == ["run000002-frame000005.raw"]
        assert "CRC" in job.message
        assert_storages_clean(system, [first, second])
        log_names = [
            path.name
            for path in list_chain_files(second, system.storage_files("logs"))
            if ".decode." in str(path)
        ]
        assert len(log_names) == 10, "the logs of the step with the failed job are kept"


STEPS = {"decode", "build_events", "filter_events", "verify", "merge", "merge_monitoring"}


class PilotKiller:
    """Kill a pilot the first time that a step has leased or running jobs, in the background."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.killed: set[str] = set()

    def __enter__(self) -> "PilotKiller":
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        with httpx.Client(
            base_url=self._system.url, timeout=30, headers=headers_for(self._system.url)
        ) as operator:
            while not self._over.wait(0.03):
                tasks = operator.get("/api/v1/tasks").raise_for_status().json()["tasks"]
                busy = {
                    task["step"]
                    for task in tasks
                    if task["jobs"] and task["jobs"]["leased"] + task["jobs"]["running"]
                }
                if busy - self.killed and self._system.pilots():
                    self._system.kill_a_pilot(len(self.killed))
                    self.killed |= busy


def test_pilots_killed_in_each_step_do_not_change_the_result(tmp_path: Path, scene: Scene) -> None:
    """Invariants 3 and 7: the death of a pilot only costs time."""
    run = generate_run(tmp_path, 3, frames=6)
    with scene() as system:
        with PilotKiller(system) as killer:
            [finished_chain] = process_runs(system.url, [run], out=tmp_path / "out")
        assert_events(run, finished_chain)
        assert killer.killed == STEPS
        assert [step.state for step in finished_chain.chain.steps] == [StepState.FINISHED] * len(
            finished_chain.chain.steps
        )
        assert_storages_clean(system, [finished_chain])


@pytest.mark.long("tests/e2e/test_up_and_down.py kills a whole system, too")
def test_killed_system_continues_after_its_restart(tmp_path: Path, scene: Scene) -> None:
    """Invariant 7: after SIGKILL to services and pilots, the chain ends as without the fault."""
    run = generate_run(tmp_path, 4, frames=6)
    with scene() as system:

        def kill_system(chain: Chain, tasks: Sequence[ChainTask]) -> None:
            if any(
                task.step == "filter_events" and task.jobs and task.jobs.finished for task in tasks
            ):
                raise FaultTime

        with pytest.raises(FaultTime):
            process_runs(system.url, [run], out=tmp_path / "out", watch=kill_system)
        system.kill()
        restarted_system = system.start_again()
        [finished_chain] = follow_runs(restarted_system.url, [run], out=tmp_path / "out")
        assert_events(run, finished_chain)
        assert_storages_clean(restarted_system, [finished_chain])


def test_lost_database_does_not_change_the_result(tmp_path: Path, scene: Scene) -> None:
    """Invariants 2 and 7: all connections are cut, and later the server is killed."""
    run = generate_run(tmp_path, 5, frames=6)
    with scene() as system:
        faults: dict[str, Callable[[], object]] = {
            "decode": system.cut_connections,
            "build_events": system.kill_database,
        }
        faulty_steps: list[str] = []

        def inject_fault(chain: Chain, tasks: Sequence[ChainTask]) -> None:
            for task in tasks:
                if (
                    task.step in faults
                    and task.step not in faulty_steps
                    and task.jobs is not None
                    and task.jobs.finished
                ):
                    faulty_steps.append(task.step)
                    faults[task.step]()

        [finished_chain] = process_runs(system.url, [run], out=tmp_path / "out", watch=inject_fault)
        assert faulty_steps == list(faults)
        assert_events(run, finished_chain)
        assert_storages_clean(system, [finished_chain])


class FaultTime(Exception):
    """The moment for the fault has come."""
