"""Errors about data sets that more than one use case raises."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sluice.contracts.access.quotas import HolderKind, ReachedQuota
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import (
    Conflict,
    Forbidden,
    ForceRequired,
    NotFound,
    Unprocessable,
)
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.append_only import Collect
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.datasets import Dataset
from sluice.text.visible_text import quoted


class UnknownDataset(NotFound):
    """No data set has this uid."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"no data set has the uid {uid}", dataset=uid)


class QuotaReached(Conflict):
    """A quota of a group or person does not allow more data."""

    def __init__(self, reached_quota: ReachedQuota) -> None:
        holder, person = reached_quota.holder, reached_quota.holder.kind is HolderKind.PERSON
        super().__init__(
            f"{reached_quota}: this would add"
            f" {reached_quota.quantity.in_words(reached_quota.more)}; delete data sets"
            f" of {holder} (`sluice dataset list`), or ask an administrator for more (`sluice"
            f" {'user quota' if person else 'group set'} {holder.name}`)",
            holder=str(holder),
            quantity=reached_quota.quantity,
        )


class UnknownFile(NotFound):
    """The data set does not have this file."""

    def __init__(self, uid: UUID, file: int) -> None:
        super().__init__(f"data set {uid} has no file {file}", dataset=uid, file=file)


class FileDeleted(NotFound):
    """The file is in the catalogue, but its content was deleted."""

    def __init__(self, uid: UUID, name: str) -> None:
        super().__init__(f"file {quoted(name)} has been deleted", dataset=uid)


class DatasetNotClosed(Conflict):
    """The files of the data set are still being added, or are being deleted."""

    def __init__(self, uid: UUID, name: str, state: DatasetState) -> None:
        super().__init__(
            f"data set {quoted(name)} is {state}: only a complete data set can be packed",
            dataset=uid,
            state=state,
        )


class TooManyFiles(Unprocessable):
    """A zip archive cannot have this many files."""

    def __init__(self, files: int, limit: int) -> None:
        super().__init__(
            f"{files} files are too many for a zip, which has at most {limit}: request a tar",
            files=files,
            limit=limit,
        )


class DatasetNotOpen(Conflict):
    """The data set takes no more files."""

    def __init__(self, uid: UUID, name: str, *, state: DatasetState, file: str) -> None:
        super().__init__(
            f"data set {quoted(name)} is {state}: file {quoted(file)} cannot be added; register a"
            " new data set",
            dataset=uid,
            state=state,
        )


class AssetDatasetReadOnly(Forbidden):
    """The data set holds a version of an asset, which only the operator service changes."""

    def __init__(self, dataset: Dataset) -> None:
        asset = dataset.meta[MARK]
        super().__init__(
            f"data set {quoted(dataset.name)} contains a version of the asset {quoted(asset)},"
            " which only the system can fill, close and share: store the files as another version"
            f" with `sluice asset put {asset}`",
            dataset=dataset.uid,
        )


class UploadUnsupported(Unprocessable):
    """Only input data sets with their own folder can be filled over the network."""

    def __init__(self, uid: UUID, name: str) -> None:
        super().__init__(
            f"data set {quoted(name)} cannot receive files in pieces: it must be of type input and"
            " have its own folder below a storage",
            dataset=uid,
        )


class PieceTooLarge(Unprocessable):
    """A piece of a file is larger than one request may carry."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"a piece may have at most {limit} bytes, and this piece has {size}", size=size
        )


class PiecesMissing(Conflict):
    """A file has not arrived as a whole; ``received_bytes`` counts the bytes from its start."""

    def __init__(self, name: str, received_bytes: int, size: int) -> None:
        super().__init__(
            f"only {received_bytes} of the {size} bytes of file {quoted(name)} have arrived:"
            " send the rest",
            file=name,
            received=received_bytes,
            size=size,
        )


class TooManyFilesForDataset(Conflict):
    """The data set would have more files than the number at which it closes."""

    def __init__(self, uid: UUID, name: str, *, count: int, complete: int) -> None:
        super().__init__(
            f"data set {quoted(name)} is complete with {format_count(complete, 'file')} and would"
            f" have {count}: if that number is wrong, close it with the right one",
            dataset=uid,
            count=count,
            complete=complete,
        )


class CompletenessDiffers(Conflict):
    """The data set is already to close at another number of files."""

    def __init__(
        self, uid: UUID, name: str, *, registered_count: int, requested_count: int
    ) -> None:
        message = (
            f"data set {quoted(name)} is to close at {format_count(registered_count, 'file')},"
            f" not at {requested_count}"
        )
        super().__init__(message, dataset=uid, known=registered_count, sent=requested_count)


class UnknownPeriod(Unprocessable):
    """The period to which ``subject`` would belong is not registered."""

    def __init__(self, subject: str, period: str | None) -> None:
        super().__init__(f"{subject}: period {quoted(period)} is not registered", period=period)


class EndBeforeStart(Unprocessable):
    """A period or run ends before it starts."""

    def __init__(self, subject: str, started_at: datetime, ended_at: datetime) -> None:
        super().__init__(
            f"{subject} ends ({ended_at.isoformat()}) before it starts ({started_at.isoformat()})"
        )


def require_order(subject: str, started_at: datetime | None, ended_at: datetime | None) -> None:
    """Check that a period or run does not end before it starts.

    Raises:
        EndBeforeStart: It ends before it starts.
    """
    if started_at and ended_at and ended_at < started_at:
        raise EndBeforeStart(subject, started_at, ended_at)


class UnknownFrameFile(Unprocessable):
    """A file of a frame is not registered; ``detail`` is the detail from the database, if any."""

    def __init__(self, run: int, detail: str | None) -> None:
        super().__init__(f"frames of run {run}: {detail or 'a file is not registered'}", run=run)


class PlaceRegisteredConcurrently(Exception):
    """A concurrent request registered a file at the same place; the next lookup finds it.

    ``where`` is the detail from the database.
    """

    def __init__(self, where: str | None) -> None:
        super().__init__(f"another file was registered there at this moment: {where}")


class EmptyDataset(Unprocessable):
    """A data set without files cannot be closed."""

    def __init__(self, uid: UUID, name: str) -> None:
        super().__init__(
            f"data set {quoted(name)} has no files and cannot be closed: register its files"
            f" first, or delete it (`sluice dataset delete {name}`)",
            dataset=uid,
        )


class LastOutputCopy(ForceRequired):
    """The last copy of an output is only deleted if the request says so (invariant 4)."""

    def __init__(self, uid: UUID, name: str, what: str) -> None:
        why = f"data set {quoted(name)} is {what}: it may be the last copy"
        super().__init__(why, forced="deletes it permanently", dataset=uid)


class DatasetIsAppendOnly(Conflict):
    """The operation does not apply to an append-only data set."""

    def __init__(self, dataset: Dataset, what: str) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} is append-only, and {what}: it grows by outputs of"
            " chains (sluice:collect), and templates take slices of it (sluice:match with every)",
            dataset=dataset.uid,
        )


class DatasetNotCollectable(Conflict):
    """The files of a data set in this state cannot be appended to another."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} is {dataset.state}: its files cannot be collected",
            dataset=dataset.uid,
            state=dataset.state,
        )


class DatasetTypeDiffers(Conflict):
    """The append-only data set has another type than the output."""

    def __init__(self, into: Collect, append_only: Dataset) -> None:
        super().__init__(
            f"append-only data set {quoted(append_only.name)} is of type"
            f" {quoted(append_only.meta.get('type'))}, and not {quoted(into.type)}: collect into a"
            " data set of another name",
            dataset=append_only.uid,
        )


class DatasetNotAppendOnly(Conflict):
    """The data set is not append-only, or no longer open: it has no slices."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} is not append-only, or no longer grows: it has no"
            " slices",
            dataset=dataset.uid,
            state=dataset.state,
        )


class DatasetNotUploadable(Unprocessable):
    """The data set cannot be uploaded."""

    def __init__(self, uid: UUID, name: str, reason: str) -> None:
        super().__init__(f"data set {quoted(name)} cannot be uploaded: {reason}", dataset=uid)


class NoStorage(Exception):
    """No storage of the requested type can take the data now; the work is tried again later.

    ``why`` has the reason for each storage.
    """

    def __init__(self, storage_type: str, why: Sequence[str]) -> None:
        super().__init__(
            f"no storage of type {storage_type} can take it:"
            f" {'; '.join(why) or 'none is registered'}"
        )
        self.storage_type = storage_type
