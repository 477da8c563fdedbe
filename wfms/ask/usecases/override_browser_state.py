"""Set by hand whether the answers of a browser count."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import BrowserState
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.set_browser_state import set_browser_state


async def override_browser_state(
    context: AskContext, browser: UUID, state: BrowserState, *, reason: str, by: str
) -> None:
    """Set the state of a browser by hand. It is not changed automatically afterwards.

    Raises:
        Conflict: The state was the same before.
    """
    if not await set_browser_state(context, browser, state, reason=reason, set_by=by):
        raise Conflict(f"browser {browser} is {state} already")
