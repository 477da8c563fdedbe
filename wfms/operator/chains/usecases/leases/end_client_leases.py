"""The clean-up of what belonged to clients whose lease has expired."""

from contextlib import suppress

import structlog

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import ChainState
from sluice.contracts.jobs.tasks import Cancel
from wfms.operator.chains.db import client_leases
from wfms.operator.chains.db.client_leases import ClientLeaseRow
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.errors import RunTemplateUnknown
from wfms.operator.templates.usecases.run_templates.delete_run_template import delete_run_template

log = structlog.get_logger(__name__)

#: Leases that one call ends.
BATCH = 20
#: Results that the person would have received; they stay unless the lease discards everything.
_DONE = {ChainState.UPLOADING, ChainState.FINISHED}


async def end_client_leases(context: OperatorContext) -> bool:
    """Cancel chains, delete data and take one-off templates off the list whose lease has expired.

    A lease stays until all of it is done, so an interruption or an outage only delays it.

    Returns:
        Whether there may be more.

    Raises:
        NotAvailable: Another service does not answer; the lease is tried again.
    """
    async with context.database.connection() as connection:
        expired = await client_leases.claim_expired(connection, limit=BATCH)
    for lease in expired:
        await _end(context, lease)
        async with context.database.connection() as connection:
            await client_leases.delete_lease(connection, lease.uid)
        log.info("client_lease.ended", lease=str(lease.uid), chains=len(lease.chains))
    return len(expired) == BATCH


async def _end(context: OperatorContext, lease: ClientLeaseRow) -> None:
    reason = Cancel(
        reason=f"its client has sent nothing for {context.client_lease:g} s: it was killed, or"
        " its connection was lost"
    )
    for uid in lease.chains:
        try:
            chain = await context.chains.get_chain(uid)
            if chain.state in _DONE and not lease.discard:
                continue
            if not chain.state.final:
                await context.chains.cancel_chain(uid, reason)
            if lease.discard or chain.state is not ChainState.FAILED:
                await context.chains.discard_chain(uid)
        except (NotFound, Conflict) as error:
            log.info("client_lease.chain_stays", chain=str(uid), reason=error.detail)
    for uid in lease.datasets:
        try:
            await context.chains.delete_dataset(uid, force=True)
        except (NotFound, Conflict) as error:
            log.info("client_lease.dataset_stays", dataset=str(uid), reason=error.detail)
    for uid in lease.run_templates:
        with suppress(RunTemplateUnknown):  # it is no longer on the list
            await delete_run_template(context.database, uid)
