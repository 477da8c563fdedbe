"""A run of `sluice cwl-runner` on a system: its invocations and results."""

import re
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sluice.contracts.common.states import JobState
from sluice.cwl_runner.client_lease import ClientLease
from sluice.cwl_runner.rest import RequestRefusedError, RestConnection
from sluice.cwl_runner.run_files import RunFiles
from sluice.cwl_runner.template import InvocationNeeds
from sluice.cwl_runner.wait_reasons import RunWaits
from sluice.cwl_values import BundleError, unpack
from sluice.scheduling.backoff import pause_after
from sluice.storage import FileMissing, StorageError, build_local_url, copy
from sluice.text.visible_text import visible

#: Errors that end a run. Each message is a sentence.
FAILURES = (RequestRefusedError, StorageError, BundleError, OSError, ValueError)
#: Seconds until the first poll, the longest pause between polls, and the growth of pauses.
_FIRST_POLL, _MAX_POLL, _POLL_GROWTH = 0.01, 0.5, 1.3
#: Seconds for which the system may be unreachable.
_MAX_OUTAGE = 120.0
#: Seconds to wait for the first pilot of a system that has just started.
_PILOT_START_SECONDS = 15.0
_UNAVAILABLE, _CONFLICT = 503, 409
#: Lines of a failed tool's log that are shown.
_LAST_LINES = 20
#: Files or jobs in one request.
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class InvocationResult:
    """The ``outputs`` of an invocation with local files, or None and the ``reason``."""

    key: Any
    outputs: dict[str, Any] | None
    reason: str = ""


@dataclass(slots=True)
class _Batch:
    """Invocations in one data set; ``keys`` has those without a result by sequence number."""

    chain: str
    keys: dict[int, Any]
    results: str | None = None
    ended: bool = False


class RunnerSession:
    """A run on a system.

    ``folder`` gets the outputs of invocations. ``process`` is the name that the user gave.
    ``wait_for_nodes`` lets jobs wait for nodes that do not exist yet. ``lease`` owns all objects of
    the run on the system.
    """

    def __init__(
        self,
        rest: RestConnection,
        folder: Path,
        *,
        lease: ClientLease,
        process: str | None = None,
        wait_for_nodes: bool = False,
    ) -> None:
        self._rest = rest
        self._lease = lease
        self._folder = folder
        words = ["cwl-runner", *_name_words(process or "")]
        self._name = "-".join([*words, time.strftime("%Y%m%d-%H%M%S"), secrets.token_hex(3)])
        self._files = RunFiles(rest, lease, self._name)
        self._batches: list[_Batch] = []
        #: Data sets of invocations that have no chain yet.
        self._datasets_without_chain: list[str] = []
        #: Ids of templates by the needs of their invocations.
        self._templates: dict[InvocationNeeds, str] = {}
        self._count = 0
        self._missing_urls: set[str] = set()
        self._poll_count = 0
        self._waits = RunWaits(rest, wait_for_nodes=wait_for_nodes)

    def submit(
        self, needs: InvocationNeeds, invocations: Sequence[tuple[Any, dict[str, Any]]]
    ) -> None:
        """Submit invocations with their keys; all their files are local."""
        self._count += 1
        needs = replace(needs, alone=len(invocations) == 1)
        name = f"{self._name}-{self._count}"
        dataset = self._files.add_dataset(name)
        self._datasets_without_chain.append(dataset)
        self._files.store_invocations(name, dataset, [value for _, value in invocations])
        chain = self._request_chain(dataset, needs)
        self._lease.transfer_to_chain(
            chain["uid"], datasets=[dataset], run_template=self._templates[needs]
        )
        self._batches.append(
            _Batch(chain["uid"], {seq: key for seq, (key, _) in enumerate(invocations)})
        )
        self._datasets_without_chain.remove(dataset)
        self._poll_count = 0
        self._waits.begin()

    @cached_property
    def has_engines(self) -> bool:
        """Return whether a node can run containers; wait for pilots of a new system."""
        end = time.monotonic() + _PILOT_START_SECONDS
        while not (pilots := self._rest.get("/pilots")["pilots"]) and time.monotonic() < end:
            time.sleep(0.1)
        return any(pilot.get("engines") for pilot in pilots)

    @property
    def waiting(self) -> bool:
        """Return whether invocations have no result yet."""
        return any(batch.keys for batch in self._batches)

    @property
    def unfinished_chains(self) -> list[str]:
        """Return the chains that have invocations without a result."""
        return [batch.chain for batch in self._batches if batch.keys]

    def results(self) -> Iterator[InvocationResult]:
        """Wait for results and yield them; raise ``OSError`` if the system stays unreachable."""
        unreachable_since: float | None = None
        while True:
            results: list[InvocationResult] = []
            try:
                for batch in self._batches:
                    if batch.keys:
                        self._poll(batch, results)
                if not results:
                    self._waits.check(batch.chain for batch in self._batches if batch.keys)
                unreachable_since = None
            except (OSError, RequestRefusedError) as error:
                if isinstance(error, RequestRefusedError) and error.status != _UNAVAILABLE:
                    raise
                unreachable_since = unreachable_since or time.monotonic()
                if time.monotonic() - unreachable_since > _MAX_OUTAGE:
                    raise
            if results:
                self._poll_count = 0
                yield from results
                return
            self._poll_count += 1
            time.sleep(_pause_after(self._poll_count))

    def close(self) -> None:
        """End running invocations and delete the run's data; an error may leave some."""
        running = [batch for batch in self._batches if batch.keys]
        for batch in running:
            self._cancel(batch)
        for batch in self._batches:
            self._rest.post(f"/chains/{batch.chain}/discard", {})
        for batch in running:
            self._wait_for_end(batch)
        for uid in filter(None, [*self._datasets_without_chain, self._files.dataset]):
            self._rest.delete(f"/datasets/{uid}", force="true")

    def _cancel(self, batch: _Batch) -> None:
        try:
            self._rest.post(f"/chains/{batch.chain}/cancel", {})
        except RequestRefusedError as error:
            if error.status != _CONFLICT:  # it has ended, or is about to
                raise

    def _request_chain(self, dataset: str, needs: InvocationNeeds) -> dict[str, Any]:
        if needs not in self._templates:
            stored = self._rest.post("/run-templates", {"name": needs.name, "cwl": needs.text})
            self._templates[needs] = stored["id"]
        body = {
            "dataset_uid": dataset,
            "template": needs.name,
            "run_template": self._templates[needs],
        }
        return dict(self._rest.post("/chains", body))

    def _poll(self, batch: _Batch, results: list[InvocationResult]) -> None:
        """Add new results to ``results`` one by one, so that an outage loses none."""
        chain = self._poll_chain(batch)
        missing_count = len(self._missing_urls)
        if batch.results is not None:
            self._read_results(batch, results)
        if batch.ended and batch.keys and len(self._missing_urls) == missing_count:
            results += self._failures(batch, chain)

    def _poll_chain(self, batch: _Batch) -> dict[str, Any]:
        chain: dict[str, Any] = self._rest.get(f"/chains/{batch.chain}")
        for dataset in chain["datasets"]:
            if dataset["port"] == "result":
                batch.results = dataset["uid"]
        batch.ended = chain["ended_at"] is not None
        return chain

    def _read_results(self, batch: _Batch, results: list[InvocationResult]) -> None:
        after: str | None = None
        while True:
            page = self._rest.get(f"/datasets/{batch.results}/files", after=after, limit=_PAGE)
            for file in page["files"]:
                outputs = self._fetch_outputs(file) if file["seq"] in batch.keys else None
                if outputs is not None:
                    results.append(InvocationResult(batch.keys.pop(file["seq"]), outputs))
            after = page["after"]
            if after is None:
                return

    def _fetch_outputs(self, file: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the outputs in a file, or None if the file is moving to the output storage."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        archive = folder / "result.tar"
        try:
            copy(
                file["url"], build_local_url(archive), checksum=file["checksum"], size=file["size"]
            )
        except FileMissing:
            if file["url"] in self._missing_urls:
                raise
            self._missing_urls.add(file["url"])
            return None
        value = unpack(archive, folder)
        archive.unlink()
        return dict(value)

    def _failures(self, batch: _Batch, chain: Mapping[str, Any]) -> list[InvocationResult]:
        """Return failures of all invocations without a result, because the chain has ended."""
        reasons: dict[int, str] = {}
        for step in chain["steps"]:
            if step["task_uid"] is not None:
                page = self._rest.get(
                    f"/tasks/{step['task_uid']}/jobs", state=JobState.FAILED.value, limit=_PAGE
                )
                reasons |= {job["seq"]: self._reason(job) for job in page["jobs"]}
        default_reason = chain["reason"] or f"the run was {chain['state']}"
        results = [
            InvocationResult(key, None, reasons.get(seq, default_reason))
            for seq, key in batch.keys.items()
        ]
        batch.keys.clear()
        return results

    def _reason(self, job: Mapping[str, Any]) -> str:
        """Return why a job failed, the last lines of its log, and where the whole log is."""
        reason = job["message"] or job["error_class"]
        try:
            lines = self._rest.text(f"/jobs/{job['id']}/log").splitlines()
        except (RequestRefusedError, OSError):  # its pilot is gone
            return str(reason)
        return "\n".join(
            [
                f"{reason}; the last lines of its log:",
                *(f"  {visible(line)}" for line in lines[-_LAST_LINES:]),
                f"  (all of it: sluice logs {job['id']})",
            ]
        )

    def _wait_for_end(self, batch: _Batch) -> None:
        """Wait until the chain has ended, because its jobs may still read the files."""
        polls = 0
        while not batch.ended:
            self._poll_chain(batch)
            if not batch.ended:
                polls += 1
                time.sleep(_pause_after(polls))


def _pause_after(polls: int) -> float:
    return pause_after(polls, first=_FIRST_POLL, max_pause=_MAX_POLL, factor=_POLL_GROWTH)


def _name_words(process: str) -> list[str]:
    """Return the words of a process in names of runs: ``count`` for ``tools/count.cwl``."""
    stem = Path(process.replace("#", "/")).name.removesuffix(".cwl")
    return [word[:20] for word in re.findall(r"[A-Za-z0-9_.]+", stem)[:5]]
