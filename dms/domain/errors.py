"""Business facts about data sets that more than one use case runs into."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sluice.contracts.datasets import Dataset
from sluice.contracts.numbers import counted
from sluice.contracts.problems import Conflict, NeedsForce, NotFound, Unprocessable
from sluice.contracts.quotas import HolderKind, Reached
from sluice.contracts.standing import Collect
from sluice.contracts.states import DatasetState
from sluice.visible_text import quoted


class UnknownDataset(NotFound):
    def __init__(self, uid: UUID) -> None:
        super().__init__(f"no data set has the uid {uid}", dataset=uid)


class QuotaReached(Conflict):
    """A group, or a person, may bring in no more."""

    def __init__(self, reached: Reached) -> None:
        holder, person = reached.holder, reached.holder.kind is HolderKind.PERSON
        super().__init__(
            f"{reached}: this is {reached.quantity.in_words(reached.more)} more; delete data sets"
            f" of {holder} (`sluice dataset list`), or ask an administrator for more"
            f" (`sluice {'user quota' if person else 'group set'} {holder.name}`)",
            holder=str(holder),
            quantity=reached.quantity,
        )


class UnknownFile(NotFound):
    def __init__(self, uid: UUID, file: int) -> None:
        super().__init__(f"data set {uid} has no file {file}", dataset=uid, file=file)


class FileGone(NotFound):
    """It is in the catalogue still; its content is not there any more."""

    def __init__(self, uid: UUID, name: str) -> None:
        super().__init__(f"file {quoted(name)} has been deleted", dataset=uid)


class NotComplete(Conflict):
    """Its files are still being added, or being deleted."""

    def __init__(self, uid: UUID, name: str, state: DatasetState) -> None:
        super().__init__(
            f"data set {quoted(name)} is {state}: only one that is complete can be packed",
            dataset=uid,
            state=state,
        )


class TooManyFiles(Unprocessable):
    def __init__(self, files: int, most: int) -> None:
        super().__init__(
            f"{files} files, and a zip here has at most {most}: ask for a tar",
            files=files,
            most=most,
        )


class DatasetNotOpen(Conflict):
    """Files cannot be added any more."""

    def __init__(self, uid: UUID, name: str, *, state: DatasetState, file: str) -> None:
        super().__init__(
            f"data set {quoted(name)} is {state}: file {quoted(file)} cannot be added; register a"
            " new data set",
            dataset=uid,
            state=state,
        )


class NoFolderToFill(Unprocessable):
    """Only what comes from outside is filled over the network, and in a folder of its own."""

    def __init__(self, uid: UUID, name: str) -> None:
        super().__init__(
            f"data set {quoted(name)} cannot be filled piece by piece: it has to be of type"
            " input, with a folder of its own below a storage",
            dataset=uid,
        )


class PieceTooLarge(Unprocessable):
    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"a piece has at most {most} bytes, and this has {size}", size=size)


class PiecesMissing(Conflict):
    """``received``: bytes from the beginning of the file that are there."""

    def __init__(self, name: str, received: int, size: int) -> None:
        super().__init__(
            f"of file {quoted(name)}, {received} of {size} bytes have arrived: send the rest",
            file=name,
            received=received,
            size=size,
        )


class MoreThanComplete(Conflict):
    def __init__(self, uid: UUID, name: str, *, count: int, complete: int) -> None:
        super().__init__(
            f"data set {quoted(name)} is complete with {counted(complete, 'file')} and would have"
            f" {count}: if that number is wrong, close it with the right one",
            dataset=uid,
            count=count,
            complete=complete,
        )


class CompletenessDiffers(Conflict):
    def __init__(self, uid: UUID, name: str, *, known: int, sent: int) -> None:
        said = f"data set {quoted(name)} is to close at {counted(known, 'file')}, not at {sent}"
        super().__init__(said, dataset=uid, known=known, sent=sent)


class UnknownPeriod(Unprocessable):
    """``subject`` was to belong to it."""

    def __init__(self, subject: str, period: str | None) -> None:
        super().__init__(f"{subject}: period {quoted(period)} is not registered", period=period)


class EndsBeforeStart(Unprocessable):
    def __init__(self, subject: str, started_at: datetime, ended_at: datetime) -> None:
        super().__init__(
            f"{subject} ends ({ended_at.isoformat()}) before it starts ({started_at.isoformat()})"
        )


def require_order(subject: str, started_at: datetime | None, ended_at: datetime | None) -> None:
    """Raises ``EndsBeforeStart``."""
    if started_at and ended_at and ended_at < started_at:
        raise EndsBeforeStart(subject, started_at, ended_at)


class UnknownFrameFile(Unprocessable):
    """``which``: as the database says it, or empty."""

    def __init__(self, run: int, which: str | None) -> None:
        super().__init__(f"frames of run {run}: {which or 'a file is not registered'}", run=run)


class PlaceJustTaken(Exception):
    """Somebody else registered a file at the same place at this moment: it is there now, and found
    by the next look. ``where``: as the database says it."""

    def __init__(self, where: str | None) -> None:
        super().__init__(f"another file was registered there at this moment: {where}")


class NoFiles(Unprocessable):
    def __init__(self, uid: UUID, name: str) -> None:
        super().__init__(
            f"data set {quoted(name)} has no files and cannot be closed: register its files"
            f" first, or delete it (`sluice dataset delete {name}`)",
            dataset=uid,
        )


class OutputKept(NeedsForce):
    """A last copy is deleted only on request (invariant 4)."""

    def __init__(self, uid: UUID, name: str, what: str) -> None:
        why = f"data set {quoted(name)} is {what}: it may be the last copy"
        super().__init__(why, forced="deletes it for good", dataset=uid)


class GrowsByItself(Conflict):
    """What is done with data sets that people or jobs fill, and not with a standing one."""

    def __init__(self, dataset: Dataset, what: str) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} is standing, and {what}: it grows by outputs of"
            " chains (sluice:collect), and templates take slices of it (sluice:match with every)",
            dataset=dataset.uid,
        )


class NothingToCollect(Conflict):
    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} is {dataset.state}: its files cannot be collected",
            dataset=dataset.uid,
            state=dataset.state,
        )


class OtherType(Conflict):
    def __init__(self, into: Collect, standing: Dataset) -> None:
        super().__init__(
            f"standing data set {quoted(standing.name)} is of type"
            f" {quoted(standing.meta.get('type'))}, and not"
            f" {quoted(into.type)}: collect in one of another name",
            dataset=standing.uid,
        )


class NotStanding(Conflict):
    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"data set {quoted(dataset.name)} does not grow (any more): there are no slices of it",
            dataset=dataset.uid,
            state=dataset.state,
        )


class NotUploadable(Unprocessable):
    def __init__(self, uid: UUID, name: str, reason: str) -> None:
        super().__init__(f"data set {quoted(name)} cannot be uploaded: {reason}", dataset=uid)


class NoStorage(Exception):
    """No storage of the type wanted can take the data now; found while working, and tried again
    later. ``why``: of each of them."""

    def __init__(self, wanted: str, why: Sequence[str]) -> None:
        super().__init__(
            f"no storage of type {wanted} can take it: {'; '.join(why) or 'none is registered'}"
        )
        self.wanted = wanted
