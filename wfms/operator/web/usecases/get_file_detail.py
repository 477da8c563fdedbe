"""One file of a data set, with a preview."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.data.datasets import Dataset, File
from wfms.operator.context import OperatorContext
from wfms.operator.web.usecases.file_preview import Preview, make_preview
from wfms.operator.web.usecases.read_image import MAX_IMAGE_BYTES


@dataclass(frozen=True, slots=True)
class FileDetail:
    """A file with its preview; without a preview, ``trouble`` says why it cannot be read."""

    dataset: Dataset
    file: File
    preview: Preview | None
    trouble: str = ""

    @property
    def name(self) -> str:
        """The name of the file within its data set."""
        return own_name(self.file.name)

    @property
    def is_picture(self) -> bool:
        """Whether the file is small enough to be shown as a picture."""
        return self.file.size <= MAX_IMAGE_BYTES


async def get_file_detail(context: OperatorContext, uid: UUID, file_id: int) -> FileDetail:
    """Return a file with its preview.

    Raises:
        NotFound: There is no such file.
        NotAvailable: The DMS does not answer.
    """
    dms = context.dms
    dataset, file = await asyncio.gather(dms.get_dataset(uid), dms.get_file(uid, file_id))
    try:
        head = await dms.read_part(uid, file_id, length=context.file_preview) if file.size else b""
    except (NotFound, NotAvailable) as error:
        return FileDetail(dataset, file, None, error.detail)
    return FileDetail(dataset, file, make_preview(own_name(file.name), head, file.size))
