"""Allowed state transitions of items and of browsers.

The documentation and the all-pairs test are generated from these tables.
"""

from sluice.contracts.common.life_cycles import Moves
from sluice.contracts.common.states import AskItemState, BrowserState

ITEM_MOVES: Moves[AskItemState] = {
    AskItemState.OPEN: frozenset({AskItemState.DECIDED, AskItemState.WITHDRAWN}),
    AskItemState.DECIDED: frozenset(
        {AskItemState.OPEN, AskItemState.DELIVERING, AskItemState.WITHDRAWN}
    ),
    AskItemState.DELIVERING: frozenset({AskItemState.DELIVERED, AskItemState.WITHDRAWN}),
    AskItemState.DELIVERED: frozenset(),
    AskItemState.WITHDRAWN: frozenset(),
}

BROWSER_STATE_MOVES: Moves[BrowserState] = {
    BrowserState.COUNTED: frozenset({BrowserState.EXCLUDED}),
    BrowserState.EXCLUDED: frozenset({BrowserState.COUNTED}),
}
