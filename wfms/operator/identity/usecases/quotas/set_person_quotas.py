"""Set the quotas of a person."""

from sluice.contracts.access.quotas import (
    HolderKind,
    PersonQuotas,
    QuotaHolder,
    SetQuotas,
)
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.audit.request import add_audit_facts
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.quotas.person_quotas import (
    collect_person_quotas,
    require_account,
)
from wfms.operator.identity.usecases.quotas.set_quotas import set_quotas


async def set_person_quotas(context: OperatorContext, name: str, new: SetQuotas) -> PersonQuotas:
    """Set the quotas of a person, as ``set_quotas`` does.

    Raises:
        Unprocessable: The request changes nothing.
        NotFound: There is no such account.
        NotAvailable: A service does not answer.
    """
    if not new.changes():
        raise Unprocessable("nothing was changed: give chains, bytes, files or waiting")
    await require_account(context, name)
    add_audit_facts(**new.model_dump(exclude_none=True))
    await set_quotas(context, QuotaHolder(HolderKind.PERSON, name), new)
    return await collect_person_quotas(context, name)
