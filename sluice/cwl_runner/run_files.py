"""The files of a run of `sluice cwl-runner` on the system: its inputs and its invocations."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sluice.contracts.common.naming import delivered_name
from sluice.cwl_runner.client_lease import ClientLease
from sluice.cwl_runner.rest import RequestRefusedError, RestConnection
from sluice.cwl_runner.values import (
    check_file_exists,
    replace_file_places,
    source_path,
    to_json,
)
from sluice.cwl_values import pack
from sluice.storage import StoredFile, put, put_bytes

_UNAVAILABLE = 503
#: The smallest size in bytes of a file that is registered at once and not with others.
_LARGE = 1 << 20
#: Files in one registration.
_PAGE = 1000


class RunFiles:
    """Copies files of a run to an input storage, each once, and registers them in data sets.

    ``name`` is the name of the run, and of the data set with its inputs. ``lease`` gets all data
    sets.
    """

    def __init__(self, rest: RestConnection, lease: ClientLease, name: str) -> None:
        self._rest = rest
        self._lease = lease
        self._name = name
        #: The location and the checksum of each copied File or Directory by its path here.
        self._places: dict[str, dict[str, str]] = {}
        self._unregistered: list[dict[str, Any]] = []
        #: The data set of the inputs, or None if there are none yet.
        self.dataset: str | None = None

    def add_dataset(self, name: str) -> str:
        """Register a data set, before its first file is written, so that files have an owner."""
        body = {"name": name, "on_demand": True, "url": f"{self._storage}/{name}"}
        uid = str(self._rest.post("/datasets", body)["uid"])
        self._lease.own(datasets=[uid])
        return uid

    def store_invocations(
        self, name: str, dataset: str, invocations: Sequence[Mapping[str, Any]]
    ) -> None:
        """Store invocations as the files of a data set with this name and uid, and close it.

        The files that they name are local, and are copied first.
        """
        stored = [replace_file_places(invocation, self._copy) for invocation in invocations]
        self._register_inputs()
        entries = []
        for seq, invocation in enumerate(stored):
            url = f"{self._storage}/{name}/{seq:06d}.json"
            entries.append(_file_entry(seq, url, put_bytes(to_json(invocation), url)))
        self._register(dataset, entries)
        self._rest.post(f"/datasets/{dataset}/close", {"files": len(entries)})

    @cached_property
    def _storage(self) -> str:
        """Return the URL of the storage that gets the files."""
        input_storages = self._rest.get("/storages", type="input")
        for storage in input_storages:
            if storage["enabled"] and not storage["read_only"]:
                return str(storage["url"])
        raise RequestRefusedError(
            _UNAVAILABLE,
            "the system has no input storage that takes data: register one with `sluice storage"
            " add`",
        )

    def _copy(self, value: Mapping[str, Any]) -> dict[str, str]:
        """Copy a File or Directory to the storage once, and return its location and checksum."""
        source = source_path(value)
        if source not in self._places:
            check_file_exists(value, source)
            if self.dataset is None:
                self.dataset = self.add_dataset(self._name)
            number = len(self._places)
            basename = os.path.basename(source.rstrip("/")) or "root"
            suffix = "" if value["class"] == "File" else ".tar"
            name = delivered_name(f"{basename}{suffix}", start=f"{number:06d}-")
            path = f"{self._name}/{name}"
            url = f"{self._storage}/{path}"
            is_folder = value["class"] == "Directory"
            stored = _put_folder(source, url) if is_folder else put(Path(source), url)
            self._places[source] = {"location": path, "checksum": stored.checksum}
            self._unregistered.append(_file_entry(number, url, stored))
            if stored.size >= _LARGE:
                self._register_inputs()
        return self._places[source]

    def _register_inputs(self) -> None:
        if self.dataset is not None:
            self._register(self.dataset, self._unregistered)
            self._unregistered.clear()

    def _register(self, dataset: str, entries: Sequence[dict[str, Any]]) -> None:
        for start in range(0, len(entries), _PAGE):
            self._rest.post(f"/datasets/{dataset}/files", {"files": entries[start : start + _PAGE]})


def _put_folder(source: str, url: str) -> StoredFile:
    """Store a directory as an archive."""
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(temporary, "bundle.tar")
        pack({"class": "Directory", "path": source}, archive)
        return put(archive, url)


def _file_entry(seq: int, url: str, stored_file: StoredFile) -> dict[str, Any]:
    """Return the entry that registers a stored file in a data set."""
    return {
        "seq": seq,
        "name": url.rsplit("/", 1)[1],
        "size": stored_file.size,
        "checksum": stored_file.checksum,
        "url": url,
    }
