"""Check that a human task step exists."""

from sluice.contracts.common.problems import NotFound
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.db.progress import find_ask
from wfms.ask.usecases.context import AskContext


async def require_step(context: AskContext, place: HumanStepPlace) -> None:
    """Check that a step asks people, or did.

    Raises:
        NotFound: The step never asked anything.
    """
    async with context.database.connection() as connection:
        if await find_ask(connection, place) is None:
            raise NotFound(
                f"template {place.template} of the group {place.group} has no human task"
                f" {place.step}"
            )
