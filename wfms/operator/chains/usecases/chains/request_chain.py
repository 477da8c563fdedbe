"""Requests of people for a chain of a data set and a template."""

from uuid import UUID

import structlog

from sluice.clients.intake import IntakeClient
from sluice.contracts.access.owners import EVERYONE, group_of_chain
from sluice.contracts.chains.chains import Chain, NewChain, RequestChain
from sluice.contracts.common.problems import NotFound, ServiceError
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.matching import bind, facts_of
from sluice.contracts.templates.parameters import find_problems, find_unknown_fields
from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.chains.domain.errors import DatasetRequired, DatasetUnusable
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestRefused
from wfms.operator.templates.domain.errors import TemplateDisabled
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.get_template import get_template
from wfms.operator.templates.usecases.placeholder_dataset import placeholder_dataset
from wfms.operator.templates.usecases.run_templates.get_run_template import get_run_template

log = structlog.get_logger(__name__)

_DELETED_STATES = {DatasetState.DELETING, DatasetState.DELETED}


async def request_chain(context: OperatorContext, request: RequestChain) -> tuple[Chain, bool]:
    """Request a chain, and return it and whether it is new.

    There is one chain for a data set, template version and parameters. The data set may be open;
    the chain then waits for it. If the template takes no data set, an empty placeholder is used.

    Raises:
        TemplateUnknown: There is no such template.
        RunTemplateUnknown: There is no such template of a run.
        TemplateDisabled: The template is disabled.
        NotFound: There is no such data set.
        DatasetUnusable: The data set is deleted.
        Unprocessable: The parameters are not valid, or the data set is missing.
        NotAvailable: Another service does not answer.
    """
    template = await _get_enabled_template(context.database, request)
    if problems := find_unknown_fields(template.plan, request.params):
        raise RequestRefused(problems)
    dataset = await _find_dataset(context, request, template)
    if dataset.state in _DELETED_STATES:
        raise DatasetUnusable(dataset.name, dataset.state.value)
    person = current_person()
    matched_parameters, _ = bind(template.plan, facts_of(dataset))
    chain = NewChain(
        dataset=dataset,
        template_id=template.id,
        template=template.name,
        template_version=template.version,
        plan=template.plan,
        params={**matched_parameters, **request.params},
        rank=request.rank,
        owner=None if person is None else person.name,
        group=_choose_group(template, dataset, person),
    )
    chain_and_is_new = await context.chains.create_new_chain(chain)
    await _dismiss_unmatched(context.intake, dataset.uid)
    return chain_and_is_new


def _choose_group(template: StoredTemplate, dataset: Dataset, person: Person | None) -> str:
    """Return the group as for a triggered chain, or the person's own if they are not in it."""
    group = group_of_chain(template.group, dataset.group)
    return group if person is None or person.visibility.is_member(group) else person.own_group


async def _find_dataset(
    context: OperatorContext, request: RequestChain, template: StoredTemplate
) -> Dataset:
    if request.dataset_uid is not None:
        return await context.dms.get_dataset(request.dataset_uid)
    plan = template.plan
    if plan.takes_dataset:
        raise DatasetRequired(template.name, plan.data_input)
    # Checked before the placeholder is registered.
    if problems := find_problems(plan, request.params):
        raise RequestRefused(problems)
    person = current_person()
    group = EVERYONE if person is None else person.own_group
    return await placeholder_dataset(context.dms, template, request.params, group=group)


async def _get_enabled_template(database: Database, request: RequestChain) -> StoredTemplate:
    if request.run_template is not None:
        return await get_run_template(database, request.run_template)
    template = await get_template(database, request.template)
    if template.disabled_at is not None:
        raise TemplateDisabled(template.name, template.disabled_at)
    return template


async def _dismiss_unmatched(intake: IntakeClient, dataset: UUID) -> None:
    """Remove the data set from the list of unmatched ones; failure only leaves it there."""
    try:
        await intake.dismiss_unmatched(dataset)
    except NotFound:
        pass
    except ServiceError as error:
        log.warning("intake.not_told", dataset=str(dataset), reason=error.detail)
