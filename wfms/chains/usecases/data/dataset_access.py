"""Access of a caller to a data set."""

from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import Forbidden, NotFound
from sluice.contracts.data.datasets import Dataset
from sluice.text.visible_text import quoted


def unknown_dataset(uid: UUID) -> NotFound:
    """Return the error for an unknown data set, worded as the DMS words it."""
    return NotFound(f"no data set has the uid {uid}", service="dms", dataset=str(uid))


def require_owned(dataset: Dataset, visibility: Visibility) -> None:
    """Require that the data set belongs to a group of the caller.

    Raises:
        NotFound: It is not visible.
        Forbidden: It belongs to another group.
    """
    if not visibility.sees(dataset.group, dataset.shared_with):
        raise unknown_dataset(dataset.uid)
    if not visibility.is_member(dataset.group):
        raise Forbidden(
            f"data set {quoted(dataset.name)} belongs to the group {dataset.group}, which shares it"
            " for reading only",
            dataset=dataset.uid,
        )
