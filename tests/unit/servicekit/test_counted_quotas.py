"""Everything that is bounded is counted, in one place, and can be said and shown."""

from itertools import chain

from dms.db.quotas import DATA
from sluice.contracts.groups import SetGroup
from sluice.contracts.quotas import Quantity, Quotas, SetQuotas
from wfms.chains.db.quotas import CHAINS
from wms.db.quotas import WAITING


def test_each_quantity_is_counted_by_one_service() -> None:
    counted = list(chain(DATA.sums, CHAINS.sums, WAITING.sums))
    assert sorted(counted) == sorted(Quantity)


def test_each_quantity_can_be_said_and_shown() -> None:
    assert set(Quotas.model_fields) == set(SetQuotas.model_fields) == set(Quantity)
    everything = SetGroup.model_validate(dict.fromkeys(Quantity, 1))
    assert everything.said() == dict.fromkeys(Quantity, 1)
