"""A finished chain with results, and data sets without a chain."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain, ChainDataset
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.running.lifecycle import running
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator
from tests.integration.operator.data.results import EVIL, PNG, Results, create_filled_dataset
from tests.integration.operator.data.unmatched_datasets import store_unmatched_datasets
from tests.unit.cwl.samples import GRAPH


@pytest.fixture
async def results(
    operator: Operator, make_database: DatabaseFactory, tmp_path: Path
) -> AsyncIterator[Results]:
    url = await make_database("dms.db.migrations")
    settings = DmsSettings(
        database_url=url, broker_url=operator.database_url, storage_roots=str(tmp_path)
    )
    service = build_dms(settings, links=operator.links, transport=operator.transport)
    operator.links.apps["dms"] = service.app
    async with running(service):
        dms = DmsClient(operator.links.http("dms"))
        (tmp_path / "out").mkdir()
        await dms.register_storage(
            NewStorage(name="out", type=StorageType.OUTPUT, url=f"file://{tmp_path}/out")
        )
        template = await operator.client.store_template(NewTemplate(name="graph", cwl=GRAPH))
        contents = [
            {"00000000.1-total.json": b'{"lines": 7, "markup": "<b>"}'},
            {
                "00000000.1-plot.png": PNG,
                "00000001.2-evil.svg": EVIL,
                "00000002.1-table.csv": b"run,hits\n312,<i>77</i>\n",
                "00000003.1-long.txt": b"".join(b"line %d\n" % line for line in range(20_000)),
                "00000004.1-none": b"",
            },
        ]
        outputs = [await create_filled_dataset(dms, tmp_path / "out", files) for files in contents]
        entries = [
            ChainDataset(
                uid=uid,
                name=str(uid),
                step=output.step,
                port=output.port,
                state=ChainDatasetStatus.READY,
            )
            for output, uid in zip(template.plan.outputs, outputs, strict=False)
        ]
        chain = Chain(
            uid=uuid4(),
            state=ChainState.FINISHED,
            template_id=template.id,
            template="graph",
            template_version=1,
            dataset_uid=uuid4(),
            dataset_name="run 312",
            params={},
            created_at=datetime.now(UTC),
            ended_at=datetime.now(UTC),
            steps=[],
            datasets=entries,
        )
        operator.neighbours.chains[chain.uid] = chain
        files = {
            file.name[11:]: (uid, file.id)
            for uid in outputs
            for file in (await dms.list_files(uid)).files
        }
        yield Results(operator, dms, chain, outputs, files, tmp_path / "out")


@pytest.fixture
async def waiting(operator: Operator) -> dict[str, UUID]:
    """Return unmatched data sets by name."""
    return await store_unmatched_datasets(operator)
