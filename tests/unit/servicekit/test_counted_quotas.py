"""Tests that each quantity with a quota is counted by a service and can be set."""

from itertools import chain

from dms.db.quotas import DATA
from sluice.contracts.access.groups import SetGroup
from sluice.contracts.access.quotas import Quantity, Quotas, SetQuotas
from wfms.chains.db.quotas import CHAINS
from wms.db.tasks.quotas import WAITING


def test_each_quantity_is_counted_by_exactly_one_service() -> None:
    counted = list(chain(DATA.sums, CHAINS.sums, WAITING.sums))
    assert sorted(counted) == sorted(Quantity)


def test_each_quantity_has_a_field_in_the_contracts() -> None:
    assert set(Quotas.model_fields) == set(SetQuotas.model_fields) == set(Quantity)
    everything = SetGroup.model_validate(dict.fromkeys(Quantity, 1))
    assert everything.changes() == dict.fromkeys(Quantity, 1)
