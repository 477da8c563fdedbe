"""The owners of the objects that an address names."""

from collections.abc import Mapping
from typing import Any

from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.get_template import get_template


async def find_owner(context: OperatorContext, rule: str, path: Mapping[str, Any]) -> str | None:
    """Return the owner of the object that the address names, or None if it is not known.

    Args:
        context: The services to ask.
        rule: The route of the address.
        path: The parameters in the path.

    Raises:
        NotFound: There is no such object.
        NotAvailable: Another service does not answer.
        KeyError: Objects of this kind have no owner, which is a programming error.
    """
    kind = rule.removeprefix("/api/v1").split("/")[1]
    return await _OWNERS[kind](context, path)


async def _find_chain_owner(context: OperatorContext, path: Mapping[str, Any]) -> str | None:
    return (await context.chains.get_chain(path["uid"])).owner


async def _find_task_owner(context: OperatorContext, path: Mapping[str, Any]) -> str | None:
    task = await context.chains.get_task(path["uid"])
    return (await context.chains.get_chain(task.chain_uid)).owner


async def _find_job_owner(context: OperatorContext, path: Mapping[str, Any]) -> str | None:
    job = await context.wms.get_job(path["job"])
    return (await context.wms.get_task(job.task_uid)).owner


async def _find_dataset_owner(context: OperatorContext, path: Mapping[str, Any]) -> str | None:
    return (await context.dms.get_dataset(path["uid"])).owner


async def _find_template_owner(context: OperatorContext, path: Mapping[str, Any]) -> str | None:
    return (await get_template(context.database, path["name"])).owner


_OWNERS = {
    "chains": _find_chain_owner,
    "tasks": _find_task_owner,
    "jobs": _find_job_owner,
    "datasets": _find_dataset_owner,
    "templates": _find_template_owner,
}
