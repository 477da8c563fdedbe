"""The list of append-only data sets and of the templates that take slices of them."""

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.data.append_only import SliceConsumer
from sluice.contracts.data.datasets import Dataset


class AppendOnlyDataset(Contract):
    """An append-only data set and the templates that take slices of it, by name.

    Attributes:
        dataset: The data set.
        since: When its first files were appended.
        readers: The templates.
        generation: The highest generation of its files: 0 for outputs made of data that people
            brought in, and one more with each slice.
    """

    dataset: Dataset
    since: Timestamp
    readers: list[SliceConsumer]
    generation: int = 0

    def reader(self, name: str) -> SliceConsumer | None:
        """Return the template of this name, or None."""
        return next((reader for reader in self.readers if reader.name == name), None)

    def used_by(self, name: str) -> int:
        """Return how many of its files the template has got in slices."""
        reader = self.reader(name)
        return 0 if reader is None else reader.used

    def new_to(self, name: str) -> int:
        """Return how many of its files the template has not got yet."""
        return self.dataset.count_files - self.used_by(name)


class AppendOnlyList(Contract):
    """Append-only data sets, oldest first."""

    datasets: list[AppendOnlyDataset]
