"""The placeholder for the data set of a chain whose template takes none."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from sluice.clients.dms import DmsClient
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.naming import MAX_DATASET_NAME, fitting_name
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset, NewDataset
from wfms.operator.templates.domain.template import StoredTemplate

#: Characters of the digest of the values.
_DIGEST = 12
_DELETED_STATES = {DatasetState.DELETING, DatasetState.DELETED}


async def placeholder_dataset(
    dms: DmsClient, template: StoredTemplate, params: Mapping[str, Any], *, group: str
) -> Dataset:
    """Return an empty closed data set that stands for the values of a chain.

    Its name is derived from the template, its version, the values and the group. Equal values get
    the same data set, and so the same chain, unless the data set was deleted.

    Raises:
        NotAvailable: The DMS does not answer.
    """
    params_json = json.dumps(params, sort_keys=True, separators=(",", ":"))
    group_suffix = "" if group == EVERYONE else f"/{group}"
    digest = sha256(f"{template.id}/{params_json}{group_suffix}".encode()).hexdigest()[:_DIGEST]
    ending, number = f"-{template.version}-{digest}", 1
    while True:
        name = fitting_name(
            template.name,
            ending if number == 1 else f"{ending}-{number}",
            max_bytes=MAX_DATASET_NAME,
        )
        new = NewDataset(name=name, on_demand=True, group=group if group_suffix else None)
        dataset = await dms.register_dataset(new)
        if dataset.state not in _DELETED_STATES:
            return await dms.close_dataset(dataset.uid, files=0)
        number += 1
