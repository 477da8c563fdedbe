"""A run of `sluice cwl-runner` on a system: its files, invocations and results."""

import os
import re
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sluice.contracts.common.naming import delivered_name
from sluice.contracts.common.states import JobState
from sluice.cwl_runner.client_lease import ClientLease
from sluice.cwl_runner.rest import RequestRefusedError, Rest
from sluice.cwl_runner.template import InvocationNeeds
from sluice.cwl_runner.values import source_path, to_json, with_files_placed
from sluice.cwl_runner.wait_reasons import RunWaits
from sluice.scheduling.backoff import pause_after
from sluice.storage import (
    BundleError,
    FileMissing,
    StorageError,
    copy,
    local_url,
    pack,
    put,
    put_bytes,
    unpack,
)
from sluice.text.visible_text import visible

#: Errors that end a run; the text of each is a sentence.
FAILURES = (RequestRefusedError, StorageError, BundleError, OSError, ValueError)
#: Seconds until the first poll, the longest pause between polls, and the growth of pauses.
_FIRST_LOOK, _LONGEST_LOOK, _LOOKS_GROW = 0.01, 0.5, 1.3
#: Seconds for which the system may be unreachable.
_PATIENCE = 120.0
#: Seconds to wait for the first pilot of a system that has just started.
_FIRST_PILOTS = 15.0
_NOT_NOW, _CONFLICT = 503, 409
#: Lines of a failed tool's log that are shown.
_LAST_LINES = 20
#: The size in bytes from which a file is registered at once and not with others.
_LARGE = 1 << 20
#: Files in one registration, and results in one request.
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
    over: bool = False


class RunnerSession:
    """A run on a system.

    ``folder`` gets the outputs of invocations. ``process`` is the name that the user gave.
    ``for_nodes`` lets jobs wait for nodes that do not exist yet. ``lease`` owns all objects of the
    run on the system.
    """

    def __init__(
        self,
        rest: Rest,
        folder: Path,
        *,
        lease: ClientLease,
        process: str | None = None,
        for_nodes: bool = False,
    ) -> None:
        self._rest = rest
        self._lease = lease
        self._folder = folder
        self._name = "-".join(
            [
                "cwl-runner",
                *_word_of(process or ""),
                time.strftime("%Y%m%d-%H%M%S"),
                secrets.token_hex(3),
            ]
        )
        self._storage = ""
        self._files: dict[str, dict[str, str]] = {}
        self._entries: list[dict[str, Any]] = []
        self._files_dataset: str | None = None
        self._batches: list[_Batch] = []
        #: Data sets of invocations that have no chain yet.
        self._loose: list[str] = []
        #: Ids of templates by the needs of their invocations.
        self._templates: dict[InvocationNeeds, str] = {}
        self._count = 0
        self._missed: set[str] = set()
        self._looks = 0
        self._waits = RunWaits(rest, for_nodes=for_nodes)

    def submit(
        self, needs: InvocationNeeds, invocations: Sequence[tuple[Any, dict[str, Any]]]
    ) -> None:
        """Submit invocations with their keys; all their files are local."""
        self._count += 1
        needs = replace(needs, alone=len(invocations) == 1)
        name = f"{self._name}-{self._count}"
        self._find_storage()
        dataset = self._new_dataset(name)
        self._loose.append(dataset)
        ready = [
            (key, with_files_placed(invocation, self._bring)) for key, invocation in invocations
        ]
        self._register_files()
        self._fill(
            dataset,
            [self._written(name, seq, invocation) for seq, (_, invocation) in enumerate(ready)],
        )
        chain = self._request_chain(dataset, needs)
        self._lease.give_to_chain(
            chain["uid"], datasets=[dataset], run_template=self._templates[needs]
        )
        self._batches.append(_Batch(chain["uid"], {seq: key for seq, (key, _) in enumerate(ready)}))
        self._loose.remove(dataset)
        self._looks = 0
        self._waits.begin()

    @cached_property
    def has_engines(self) -> bool:
        """Return whether a node can run containers; wait for pilots of a new system."""
        end = time.monotonic() + _FIRST_PILOTS
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
        gone: float | None = None
        while True:
            found: list[InvocationResult] = []
            try:
                for batch in self._batches:
                    if batch.keys:
                        self._look(batch, found)
                if not found:
                    self._waits.look(batch.chain for batch in self._batches if batch.keys)
                gone = None
            except (OSError, RequestRefusedError) as error:
                if isinstance(error, RequestRefusedError) and error.status != _NOT_NOW:
                    raise
                gone = gone or time.monotonic()
                if time.monotonic() - gone > _PATIENCE:
                    raise
            if found:
                self._looks = 0
                yield from found
                return
            self._looks += 1
            time.sleep(_pause_after(self._looks))

    def close(self) -> None:
        """End running invocations and delete the run's data; an error may leave some."""
        running = [batch for batch in self._batches if batch.keys]
        for batch in running:
            self._cancel(batch)
        for batch in self._batches:
            self._rest.post(f"/chains/{batch.chain}/discard", {})
        for batch in running:
            self._wait_for_end(batch)
        for uid in filter(None, [*self._loose, self._files_dataset]):
            self._rest.delete(f"/datasets/{uid}", force="true")

    def _cancel(self, batch: _Batch) -> None:
        try:
            self._rest.post(f"/chains/{batch.chain}/cancel", {})
        except RequestRefusedError as error:
            if error.status != _CONFLICT:  # it has ended, or is about to
                raise

    def _find_storage(self) -> None:
        if self._storage:
            return
        known = self._rest.get("/storages", type="input")
        storages = [storage for storage in known if storage["enabled"] and not storage["read_only"]]
        if not storages:
            raise RequestRefusedError(
                _NOT_NOW,
                "the system has no input storage that takes data: register one with `sluice storage"
                " add`",
            )
        self._storage = storages[0]["url"]

    def _bring(self, value: Mapping[str, Any]) -> dict[str, str]:
        """Copy a File or Directory to the storage, once, and return its place and checksum."""
        source = source_path(value)
        if source not in self._files:
            _check_there(value, source)
            if self._files_dataset is None:
                self._files_dataset = self._new_dataset(self._name)
            number = len(self._files)
            own = os.path.basename(source.rstrip("/")) or "root"
            ending = "" if value["class"] == "File" else ".tar"
            name = delivered_name(f"{own}{ending}", start=f"{number:06d}-")
            place = f"{self._name}/{name}"
            entry = self._put(Path(source), place, seq=number, folder=value["class"] == "Directory")
            self._files[source] = {"location": place, "checksum": entry["checksum"]}
            self._entries.append(entry)
            if entry["size"] >= _LARGE:
                self._register_files()
        return self._files[source]

    def _put(self, source: Path, place: str, *, seq: int, folder: bool) -> dict[str, Any]:
        url = f"{self._storage}/{place}"
        if folder:
            with tempfile.TemporaryDirectory() as temporary:
                archive = Path(temporary, "bundle.tar")
                pack({"class": "Directory", "path": str(source)}, archive)
                stored = put(archive, url)
        else:
            stored = put(source, url)
        return {
            "seq": seq,
            "name": place.rsplit("/", 1)[1],
            "size": stored.size,
            "checksum": stored.checksum,
            "url": url,
        }

    def _register_files(self) -> None:
        for start in range(0, len(self._entries), _PAGE):
            self._rest.post(
                f"/datasets/{self._files_dataset}/files",
                {"files": self._entries[start : start + _PAGE]},
            )
        self._entries.clear()

    def _written(self, name: str, seq: int, invocation: Mapping[str, Any]) -> dict[str, Any]:
        """Write the file of an invocation to the storage and return its entry."""
        content = to_json(invocation)
        own = f"{seq:06d}.json"
        url = f"{self._storage}/{name}/{own}"
        stored = put_bytes(content, url)
        return {
            "seq": seq,
            "name": own,
            "size": stored.size,
            "checksum": stored.checksum,
            "url": url,
        }

    def _new_dataset(self, name: str) -> str:
        """Register a data set, before its first file is written, so that files have an owner."""
        body = {"name": name, "on_demand": True, "url": f"{self._storage}/{name}"}
        uid = str(self._rest.post("/datasets", body)["uid"])
        self._lease.own(datasets=[uid])
        return uid

    def _fill(self, uid: str, files: Sequence[dict[str, Any]]) -> None:
        for start in range(0, len(files), _PAGE):
            self._rest.post(f"/datasets/{uid}/files", {"files": files[start : start + _PAGE]})
        self._rest.post(f"/datasets/{uid}/close", {"files": len(files)})

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

    def _look(self, batch: _Batch, found: list[InvocationResult]) -> None:
        """Add new results to ``found`` one by one, so that an outage loses none."""
        chain = self._look_at_chain(batch)
        missed = len(self._missed)
        if batch.results is not None:
            self._read_results(batch, found)
        if batch.over and batch.keys and len(self._missed) == missed:
            found += self._failures(batch, chain)

    def _look_at_chain(self, batch: _Batch) -> dict[str, Any]:
        chain: dict[str, Any] = self._rest.get(f"/chains/{batch.chain}")
        for dataset in chain["datasets"]:
            if dataset["port"] == "result":
                batch.results = dataset["uid"]
        batch.over = chain["ended_at"] is not None
        return chain

    def _read_results(self, batch: _Batch, found: list[InvocationResult]) -> None:
        after: str | None = None
        while True:
            page = self._rest.get(f"/datasets/{batch.results}/files", after=after, limit=_PAGE)
            for file in page["files"]:
                outputs = self._fetched(file) if file["seq"] in batch.keys else None
                if outputs is not None:
                    found.append(InvocationResult(batch.keys.pop(file["seq"]), outputs))
            after = page["after"]
            if after is None:
                return

    def _fetched(self, file: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the outputs in a file, or None if the file is moving to the output storage."""
        place = Path(tempfile.mkdtemp(dir=self._folder))
        archive = place / "result.tar"
        try:
            copy(file["url"], local_url(archive), checksum=file["checksum"], size=file["size"])
        except FileMissing:
            if file["url"] in self._missed:
                raise
            self._missed.add(file["url"])
            return None
        value = unpack(archive, place)
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
        why = chain["reason"] or f"the run was {chain['state']}"
        found = [
            InvocationResult(key, None, reasons.get(seq, why)) for seq, key in batch.keys.items()
        ]
        batch.keys.clear()
        return found

    def _reason(self, job: Mapping[str, Any]) -> str:
        """Return why a job failed, the last lines of its log, and where the whole log is."""
        why = job["message"] or job["error_class"]
        try:
            lines = self._rest.text(f"/jobs/{job['id']}/log").splitlines()
        except (RequestRefusedError, OSError):  # its pilot is gone
            return str(why)
        return "\n".join(
            [
                f"{why}; the last lines of its log:",
                *(f"  {visible(line)}" for line in lines[-_LAST_LINES:]),
                f"  (all of it: sluice logs {job['id']})",
            ]
        )

    def _wait_for_end(self, batch: _Batch) -> None:
        """Wait until the chain has ended, because its jobs may still read the files."""
        looks = 0
        while not batch.over:
            self._look_at_chain(batch)
            if not batch.over:
                looks += 1
                time.sleep(_pause_after(looks))


def _pause_after(looks: int) -> float:
    return pause_after(looks, first=_FIRST_LOOK, longest=_LONGEST_LOOK, factor=_LOOKS_GROW)


def _check_there(value: Mapping[str, Any], path: str) -> None:
    """Check that a File or Directory exists.

    Raises:
        FileNotFoundError: It does not.
    """
    folder = value["class"] == "Directory"
    if not os.path.exists(path) or os.path.isdir(path) is not folder:
        raise FileNotFoundError(f"{path}: there is no such {'directory' if folder else 'file'}")


def _word_of(process: str) -> list[str]:
    """Return the words of a process in names of runs: ``count`` for ``tools/count.cwl``."""
    stem = Path(process.replace("#", "/")).name.removesuffix(".cwl")
    return [word[:20] for word in re.findall(r"[A-Za-z0-9_.]+", stem)[:5]]
