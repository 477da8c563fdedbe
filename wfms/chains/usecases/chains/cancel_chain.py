"""Cancel a chain."""

from typing import assert_never
from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainState
from sluice.contracts.jobs.tasks import BY_REQUEST
from sluice.servicekit.database import Database
from wfms.chains.db import chains
from wfms.chains.usecases.chains.advance_chain import advance_chain
from wfms.chains.usecases.chains.get_chain import UnknownChain


class ChainNotCancelable(Conflict):
    """The chain has ended, or uploads an output that is to arrive."""

    def __init__(self, uid: UUID, state: ChainState) -> None:
        reason = (
            "its output is on the way to the output storage"
            if state is ChainState.UPLOADING
            else {ChainState.CANCELED: "it was canceled"}.get(state, f"it has {state}")
        )
        super().__init__(f"chain {uid} can no longer be canceled: {reason}", uid=uid, state=state)


async def cancel_chain(
    database: Database, uid: UUID, *, reason: str = BY_REQUEST.reason, withdraw: bool = False
) -> None:
    """Cancel a chain. Repeating it is fine, also while a failed chain waits for running tasks.

    Steps that were not sent end at once. The loop ``stop_tasks`` stops running tasks, and the chain
    is canceled when the last of them has ended. With ``withdraw``, a chain that uploads its output
    is canceled at once, and outputs that are not safe on the output storage are released.

    Raises:
        UnknownChain: There is no such chain.
        ChainNotCancelable: It has ended, or it uploads its output and ``withdraw`` is not set.
    """
    now = database.clock.now()
    async with database.transaction() as transaction:
        locked = await chains.lock_chain_row(transaction.connection, uid)
        if locked is None:
            raise UnknownChain(uid)
        match locked.state:
            case ChainState.CANCELED:
                return
            case ChainState.FINISHED | ChainState.FAILED as state:
                raise ChainNotCancelable(uid, state)
            case ChainState.UPLOADING if not withdraw:
                raise ChainNotCancelable(uid, locked.state)
            case ChainState.IN_PROGRESS | ChainState.UPLOADING:
                await chains.end_chain(
                    transaction.connection, uid, ChainState.CANCELED, reason=reason
                )
                await advance_chain(transaction, uid, now=now)
            case _:
                assert_never(locked.state)
