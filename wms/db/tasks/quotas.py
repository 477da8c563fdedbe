"""Count of ready jobs for the quotas of groups and people."""

from sluice.contracts.access.quotas import Quantity
from sluice.servicekit.quotas.counted_quantities import CountedQuantities
from sluice.servicekit.statement import FINAL_TASK_STATES

#: The statement uses the index tasks_live.
WAITING = CountedQuantities(
    rows=f"FROM tasks WHERE state NOT IN ({FINAL_TASK_STATES})",
    sums={Quantity.WAITING: "coalesce(sum(ready), 0)"},
)
