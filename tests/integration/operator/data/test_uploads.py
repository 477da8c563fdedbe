"""Files that a person uploads become a data set, or an error says what to do."""

from pathlib import Path

import pytest

from sluice.clientkit.connection import Connection
from sluice.clientkit.transfer.upload import upload_files
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import NewDataset, NewStorage
from tests.integration.operator.data.results import Results


async def test_upload_without_a_usable_input_storage_says_what_to_do(
    results: Results, tmp_path: Path
) -> None:
    connection = Connection("http://operator.test", results.operator.client, results.dms)

    async def refused() -> str:
        with pytest.raises(NotAvailable) as refusal:
            await upload_files(connection, [], dataset=NewDataset(name="mine"))
        return str(refusal.value)

    assert "register one with" in await refused()
    (tmp_path / "in").mkdir()
    await results.dms.register_storage(
        NewStorage(name="shelf", type=StorageType.INPUT, url=f"file://{tmp_path}/in")
    )
    await results.dms.disable_storage("shelf")
    assert "input storage shelf is disabled: `sluice storage enable shelf`" in await refused()


async def test_upload_under_the_name_of_a_deleted_data_set_is_refused(
    results: Results, tmp_path: Path
) -> None:
    connection = Connection("http://operator.test", results.operator.client, results.dms)
    (tmp_path / "in").mkdir()
    await results.dms.register_storage(
        NewStorage(name="shelf", type=StorageType.INPUT, url=f"file://{tmp_path}/in")
    )
    before = await results.dms.register_dataset(
        NewDataset(name="mine", url=f"file://{tmp_path}/in/mine")
    )
    await results.dms.delete_dataset(before.uid, force=True)
    with pytest.raises(
        Conflict, match="cannot be used again: choose another name, such as 'mine-2'"
    ):
        await upload_files(connection, [], dataset=NewDataset(name="mine"))
