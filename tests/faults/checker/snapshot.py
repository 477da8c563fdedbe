"""What is there at one moment: every table, every file on the storages, every queue; plain data, so
a test can spoil a copy."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

Row = dict[str, Any]

_MADE = re.compile(r"^[0-9]{8}\.[0-9]+-")

#: Service → the tables that are looked at. Transports' own tables are no service's.
TABLES: Mapping[str, tuple[str, ...]] = {
    "dms": (
        *(
            "datasets",
            "dataset_files",
            "files",
            "replicas",
            "storages",
            "storage_usage",
            "periods",
            "runs",
            "frames",
        ),
        *("file_reads", "removals"),
        *("outbox", "inbox"),
    ),
    "wms": (
        *("tasks", "jobs", "attempts", "pilots", "sites", "limits", "input_readers"),
        *("outbox", "inbox"),
    ),
    "chains": ("chains", "steps", "inputs", "datasets", "outbox", "inbox"),
    "ask": ("questions", "items", "shown", "outbox", "inbox"),
    "watcher": ("watches", "releases", "outbox", "inbox"),
    "intake": ("handovers", "unmatched", "outbox", "inbox"),
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    size: int
    sha256: str


@dataclass(slots=True)
class Snapshot:
    """``files``: path → what the disk has there. ``queues``: name → messages in it, dead letters'
    queues (``….dead``) too. ``processes``: of tools, those that still are, pid and command."""

    tables: dict[str, dict[str, list[Row]]]
    files: dict[str, StoredFile]
    queues: dict[str, int]
    processes: dict[int, str]

    def rows(self, service: str, table: str) -> list[Row]:
        return self.tables[service][table]

    def first(self, service: str, table: str, **values: Any) -> Row:
        """The first row with these values."""
        return next(
            row
            for row in self.rows(service, table)
            if all(row[key] == value for key, value in values.items())
        )


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """A file of a data set with the paths of its available copies. ``sha256``: as the catalogue has
    it."""

    name: str
    seq: int
    size: int
    sha256: str
    meta: Any
    origin: Any
    places: tuple[str, ...]
    released_at: datetime | None

    @property
    def own_name(self) -> str:
        """As its tool called it: the system puts the job's number and the attempt before it."""
        return _MADE.sub("", self.name)


class Catalogue:
    """The DMS's tables joined."""

    def __init__(self, state: Snapshot) -> None:
        self.roots = {row["id"]: path_of(row["url"]) for row in state.rows("dms", "storages")}
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
                places=tuple(places.get(row["file_id"], ())),
                released_at=row["released_at"],
            )
            self._members.setdefault(row["dataset_uid"], []).append(member)
        for members in self._members.values():
            members.sort(key=lambda member: (member.seq, member.name))

    def files(self, dataset: Any) -> list[CatalogueFile]:
        """In order."""
        return self._members.get(dataset, [])

    def available(self, state: Snapshot) -> list[tuple[str, Row]]:
        """(path, the file's row) of every available copy."""
        files = {row["id"]: row for row in state.rows("dms", "files")}
        return [
            (f"{self.roots[row['storage_id']]}/{row['path']}", files[row["file_id"]])
            for row in state.rows("dms", "replicas")
            if row["state"] == "available"
        ]


def path_of(url: str) -> str:
    """Of a ``file://`` URL."""
    return unquote(urlsplit(url).path)


def group(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Rows by the value of a column (several: a tuple of values)."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        key = row[columns[0]] if len(columns) == 1 else tuple(row[column] for column in columns)
        found.setdefault(key, []).append(row)
    return found
