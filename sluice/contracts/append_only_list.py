"""The list of data sets that grow, with who is given what is new in them."""

from operator import not_
from typing import Annotated

from pydantic import Field

from sluice.contracts.append_only import SliceConsumer
from sluice.contracts.base import Contract, Timestamp
from sluice.contracts.datasets import Dataset


class AppendOnlyDataset(Contract):
    """A data set that grows, and the templates that take slices of it, by name. ``since``: when its
    first files came. ``generation``: the highest of its files', where it is asked for: 0 of what
    chains made of data that somebody brought, one more with each slice."""

    dataset: Dataset
    since: Timestamp
    readers: list[SliceConsumer]
    generation: Annotated[int, Field(exclude_if=not_)] = 0

    def reader(self, name: str) -> SliceConsumer | None:
        return next((reader for reader in self.readers if reader.name == name), None)

    def used_by(self, name: str) -> int:
        """How many of its files the template has been given."""
        found = self.reader(name)
        return 0 if found is None else found.used

    def new_to(self, name: str) -> int:
        return self.dataset.count_files - self.used_by(name)


class AppendOnlyList(Contract):
    """In the order in which they began."""

    standing: list[AppendOnlyDataset]
