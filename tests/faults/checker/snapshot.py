"""The state at one time: tables, files and queues, as plain data that a test can corrupt."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

Row = dict[str, Any]

_MADE = re.compile(r"^[0-9]{8}\.[0-9]+-")

#: Service → tables that are checked, without those of the transport.
TABLES: Mapping[str, tuple[str, ...]] = {
    "dms": (
        "datasets",
        "dataset_files",
        "files",
        "replicas",
        "storages",
        "storage_usage",
        "periods",
        "runs",
        "frames",
        "file_reads",
        "removals",
        "outbox",
        "inbox",
    ),
    "wms": (
        "tasks",
        "jobs",
        "attempts",
        "pilots",
        "sites",
        "limits",
        "downstream_counts",
        "outbox",
        "inbox",
    ),
    "chains": ("chains", "steps", "inputs", "datasets", "outbox", "inbox"),
    "ask": ("questions", "items", "assignments", "outbox", "inbox"),
    "watcher": ("watches", "releases", "outbox", "inbox"),
    "intake": ("handovers", "unmatched", "outbox", "inbox"),
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    size: int
    sha256: str


@dataclass(slots=True)
class Snapshot:
    """``files`` maps paths to files on disk, and ``queues`` names to numbers of messages.

    Queues of dead letters (``….dead``) are included. ``processes`` maps the ids of tools' processes
    to commands.
    """

    tables: dict[str, dict[str, list[Row]]]
    files: dict[str, StoredFile]
    queues: dict[str, int]
    processes: dict[int, str]

    def rows(self, service: str, table: str) -> list[Row]:
        return self.tables[service][table]

    def row(self, service: str, table: str, **values: Any) -> Row:
        """Return the first row with these values."""
        return next(
            row
            for row in self.rows(service, table)
            if all(row[key] == value for key, value in values.items())
        )


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """A file of a data set with the paths of its available replicas.

    ``sha256`` is that of the catalogue.
    """

    name: str
    seq: int
    size: int
    sha256: str
    meta: Any
    origin: Any
    paths: tuple[str, ...]
    released_at: datetime | None

    @property
    def own_name(self) -> str:
        """Return the name that the tool gave the file, without the job's number and the attempt."""
        return _MADE.sub("", self.name)


class Catalogue:
    """The joined tables of the DMS."""

    def __init__(self, state: Snapshot) -> None:
        self.roots = {row["id"]: get_path(row["url"]) for row in state.rows("dms", "storages")}
        self.datasets = {row["uid"]: row for row in state.rows("dms", "datasets")}
        self.by_name = {row["name"]: row for row in self.datasets.values()}
        files = {row["id"]: row for row in state.rows("dms", "files")}
        places: dict[int, list[str]] = {}
        for row in state.rows("dms", "replicas"):
            if row["state"] == "available":
                places.setdefault(row["file_id"], []).append(
                    f"{self.roots[row['storage_id']]}/{row['path']}"
                )
        self._members: dict[Any, list[CatalogueFile]] = {}
        for row in state.rows("dms", "dataset_files"):
            file = files[row["file_id"]]
            member = CatalogueFile(
                name=row["name"],
                seq=row["seq"],
                size=file["size"],
                sha256=file["checksum"].hex(),
                meta=file["meta"],
                origin=file["origin"],
                paths=tuple(places.get(row["file_id"], ())),
                released_at=row["released_at"],
            )
            self._members.setdefault(row["dataset_uid"], []).append(member)
        for members in self._members.values():
            members.sort(key=lambda member: (member.seq, member.name))

    def files(self, dataset: Any) -> list[CatalogueFile]:
        """Return the files of a data set in order."""
        return self._members.get(dataset, [])

    def available(self, state: Snapshot) -> list[tuple[str, Row]]:
        """Return path and file row of every available replica."""
        files = {row["id"]: row for row in state.rows("dms", "files")}
        return [
            (f"{self.roots[row['storage_id']]}/{row['path']}", files[row["file_id"]])
            for row in state.rows("dms", "replicas")
            if row["state"] == "available"
        ]


def get_path(url: str) -> str:
    """Return the path of a ``file://`` URL."""
    return unquote(urlsplit(url).path)


def group_rows(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Group rows by the value of a column, or by a tuple of values of several columns."""
    rows_by_key: dict[Any, list[Row]] = {}
    for row in rows:
        key = row[columns[0]] if len(columns) == 1 else tuple(row[column] for column in columns)
        rows_by_key.setdefault(key, []).append(row)
    return rows_by_key
