"""Allowed state transitions of items and of browsers.

The documentation and the all-pairs test are generated from these tables.
"""

from sluice.contracts.common.life_cycles import Moves
from sluice.contracts.common.states import AskItemState, DeviceState

ITEM_MOVES: Moves[AskItemState] = {
    AskItemState.OPEN: frozenset({AskItemState.DECIDED, AskItemState.WITHDRAWN}),
    AskItemState.DECIDED: frozenset(
        {AskItemState.OPEN, AskItemState.GIVING, AskItemState.WITHDRAWN}
    ),
    AskItemState.GIVING: frozenset({AskItemState.GIVEN, AskItemState.WITHDRAWN}),
    AskItemState.GIVEN: frozenset(),
    AskItemState.WITHDRAWN: frozenset(),
}

DEVICE_STATE_MOVES: Moves[DeviceState] = {
    DeviceState.COUNTED: frozenset({DeviceState.EXCLUDED}),
    DeviceState.EXCLUDED: frozenset({DeviceState.COUNTED}),
}
