"""Plan the rerun of a chain."""

from uuid import UUID

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import RerunChain, RerunPlan
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.servicekit.access.principal import Person
from wfms.chains.domain.identity import task_uid
from wfms.chains.domain.rerun_counts import describe_rerun_step
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.reruns.rerun_draft import RerunDraft, make_rerun_draft

log = structlog.get_logger(__name__)


async def plan_chain_rerun(
    context: ChainsContext, uid: UUID, rerun_request: RerunChain, *, by: Person | None = None
) -> RerunPlan:
    """Return what ``rerun_chain`` would do; missing data is part of the answer.

    It raises the same errors as ``rerun_chain`` except ``RerunDataMissing`` and ``ChainChanged``.
    """
    draft = await make_rerun_draft(context, uid, rerun_request, by=by)
    counts = await _counts(context.wms, draft)
    plan = draft.before.view.plan
    return RerunPlan(
        chain_uid=uid,
        steps=[
            describe_rerun_step(draft.rerun, draft.request, step, counts) for step in plan.steps
        ],
        params=dict(draft.request.params),
        missing=list(draft.rerun.missing),
    )


async def _counts(wms: WmsClient, draft: RerunDraft) -> dict[str, TaskStatus]:
    """Return the counts of the steps' tasks, by step; none if the WMS does not answer."""
    tasks = {
        name: task_uid(step.taken_from or draft.before.uid, name)
        for name, step in draft.before.view.steps.items()
        if step.sent
    }
    try:
        answer = await wms.list_tasks(uid=list(tasks.values()))
    except ServiceError as error:
        log.warning("wms.no_counts", reason=error.detail)
        return {}
    status_by_uid = {status.uid: status for status in answer.tasks}
    return {name: status_by_uid[uid] for name, uid in tasks.items() if uid in status_by_uid}
