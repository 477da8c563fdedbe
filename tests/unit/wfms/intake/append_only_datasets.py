"""Append-only data sets and their consumers."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.append_only import SliceConsumer, SliceOf
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import Dataset

START = datetime(2026, 1, 1, tzinfo=UTC)


def make_dataset(
    *, append_only: str | None = None, parent: SliceOf | None = None, **more: object
) -> Dataset:
    fields: dict[str, object] = {"name": "corpus", "meta": {"type": "pages"}, **more}
    return Dataset.model_validate(
        {
            "uid": UUID(int=1),
            "type": DatasetType.INPUT,
            "state": DatasetState.OPEN if append_only else DatasetState.CLOSED,
            "count_files": 12,
            "bytes": 1,
            "timestamp": START,
            "append_only": append_only,
            "slice": parent,
            **fields,
        }
    )


def make_corpus(*readers: tuple[str, int, datetime], **more: Any) -> AppendOnlyDataset:
    return AppendOnlyDataset(
        dataset=make_dataset(append_only="corpus", **more),
        since=START,
        readers=[
            SliceConsumer(name=name, used=used, slices=1, last_at=at, last=UUID(int=2))
            for name, used, at in readers
        ],
    )
