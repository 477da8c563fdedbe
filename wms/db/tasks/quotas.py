"""Count of ready jobs for the quotas of groups and people."""

from sluice.contracts.access.quotas import Quantity
from sluice.contracts.common.states import TaskState
from sluice.servicekit.quotas.counted_quantities import CountedQuantities

_FINAL = ", ".join(f"'{state}'" for state in TaskState if state.final)

#: The statement uses the index tasks_live.
WAITING = CountedQuantities(
    rows=f"FROM tasks WHERE state NOT IN ({_FINAL})",
    sums={Quantity.WAITING: "coalesce(sum(ready), 0)"},
)
