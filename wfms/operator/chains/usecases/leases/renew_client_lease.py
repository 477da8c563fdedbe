"""Renewal of the lease of a client that waits."""

from datetime import timedelta
from uuid import UUID

from sluice.contracts.access.access import Role
from sluice.contracts.chains.chains import Chain
from sluice.contracts.chains.client_leases import RenewClientLease, RenewedLease
from sluice.contracts.common.problems import Conflict, Forbidden
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.access.principal import Person
from wfms.operator.chains.db import client_leases
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.run_templates.get_run_template import get_run_template


class LeaseEnded(Conflict):
    """The lease has expired or belongs to another person."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"client lease {uid} has expired: it was not renewed in time, so the work of the client"
            " is being ended"
        )


async def renew_client_lease(
    context: OperatorContext, uid: UUID, owned_objects: RenewClientLease, *, by: Person
) -> RenewedLease:
    """Create or renew a lease that owns what the client names in this request.

    Equal templates of a group are stored once. A client may therefore name the one-off template of
    another person if it also names a chain of this template. Such a template stays on the list.

    Raises:
        Forbidden: The person may not end a chain, data set or template that the client names.
        LeaseEnded: The lease has expired.
        NotFound: There is no such chain, data set or one-off template, or it is not visible.
    """
    async with context.database.connection() as connection:
        lease = await client_leases.find_lease(connection, uid, by.name)
    owned_objects = await _require_own(context, owned_objects, lease, by=by)
    life = timedelta(seconds=context.client_lease)
    async with context.database.connection() as connection:
        expires = await client_leases.renew_lease(
            connection, uid, by.name, owned_objects, life=life
        )
    if expires is None:
        raise LeaseEnded(uid)
    return RenewedLease(uid=uid, expires_at=expires, seconds=context.client_lease)


async def _require_own(
    context: OperatorContext,
    owned_objects: RenewClientLease,
    lease: client_leases.ClientLeaseRow | None,
    *,
    by: Person,
) -> RenewClientLease:
    """Check the permission for what is new: the service ends it with its own rights.

    Returns:
        What the lease may end: the request without templates of others.
    """
    chains = set(owned_objects.chains) - set(lease.chains if lease else ())
    datasets = set(owned_objects.datasets) - set(lease.datasets if lease else ())
    objects: list[Chain | Dataset] = [await context.chains.get_chain(chain) for chain in chains]
    objects += [await context.dms.get_dataset(dataset) for dataset in datasets]
    for item in objects:
        if not _may_end(by, item):
            raise _forbidden(by, item.uid, item)
    kept_templates = set(lease.run_templates if lease else ()) & set(owned_objects.run_templates)
    for uid in set(owned_objects.run_templates) - kept_templates:
        template = await get_run_template(context.database, uid)
        if _may_end(by, template):
            kept_templates.add(uid)
        elif not await _runs_template(context, owned_objects, uid):
            raise _forbidden(by, uid, template)
    return owned_objects.model_copy(update={"run_templates": sorted(kept_templates)})


async def _runs_template(
    context: OperatorContext, owned_objects: RenewClientLease, uid: UUID
) -> bool:
    """Return whether a chain of the lease runs the template."""
    for chain in owned_objects.chains:
        if (await context.chains.get_chain(chain)).template_id == uid:
            return True
    return False


def _may_end(by: Person, item: Chain | Dataset | StoredTemplate) -> bool:
    has_right = by.role.includes(Role.SHIFT) or item.owner == by.name
    return has_right and by.visibility.is_member(item.group)


def _forbidden(by: Person, uid: UUID, item: Chain | Dataset | StoredTemplate) -> Forbidden:
    return Forbidden(
        f"{by} may not hold {uid}: this requires the role shift, or that you own it, and membership"
        f" in its group {item.group}"
    )
