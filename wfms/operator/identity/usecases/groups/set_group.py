"""Set the weight and the quotas of a group."""

import structlog

from sluice.contracts.access.groups import Group, SetGroup, SetShare
from sluice.contracts.access.quotas import HolderKind, QuotaHolder
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.audit.request import add_audit_facts
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.groups.list_groups import list_groups
from wfms.operator.identity.usecases.quotas.set_quotas import set_quotas

log = structlog.get_logger(__name__)


async def set_group(context: OperatorContext, name: str, new: SetGroup) -> Group:
    """Set the weight and the quotas of a group in the services that enforce them.

    If a service does not answer, other services may already have the new values.

    Raises:
        Unprocessable: The request changes nothing.
        NotAvailable: Another service does not answer.
    """
    if new == SetGroup():
        raise Unprocessable("nothing was changed: give weight, chains, bytes, files or waiting")
    changes = new.model_dump(exclude_none=True)
    add_audit_facts(**changes)
    if new.weight is not None:
        await context.wms.set_share(name, SetShare(weight=new.weight))
    await set_quotas(context, QuotaHolder(HolderKind.GROUP, name), new)
    log.info("group.set", group=name, **changes)
    return await _get_group(context, name)


async def _get_group(context: OperatorContext, name: str) -> Group:
    groups = {group.name: group for group in (await list_groups(context)).groups}
    return groups.get(name, Group(name=name))
