"""Reads one file of a data set, and as much of what is in it as is shown."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.datasets import Dataset, File
from sluice.contracts.naming import own_name
from sluice.contracts.problems import NotAvailable, NotFound
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.preview_file import Preview, preview_of
from wfms.operator.usecases.read_image import LARGEST


@dataclass(frozen=True, slots=True)
class FileDetail:
    """``preview`` None: it cannot be read, and ``trouble`` says why."""

    dataset: Dataset
    file: File
    preview: Preview | None
    trouble: str = ""

    @property
    def name(self) -> str:
        return own_name(self.file.name)

    @property
    def pictured(self) -> bool:
        """It is not too large for a picture on a page."""
        return self.file.size <= LARGEST


async def read_file_detail(context: OperatorContext, uid: UUID, file_id: int) -> FileDetail:
    """Effect: none. Raises ``NotFound`` and ``NotAvailable`` of the DMS."""
    dms = context.dms
    dataset, file = await asyncio.gather(dms.dataset(uid), dms.file(uid, file_id))
    try:
        head = await dms.part(uid, file_id, length=context.file_preview) if file.size else b""
    except (NotFound, NotAvailable) as error:
        return FileDetail(dataset, file, None, error.detail)
    return FileDetail(dataset, file, preview_of(own_name(file.name), head, file.size))
