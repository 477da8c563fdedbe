"""Asks the chain service to carry a data set through a template, as somebody wishes."""

from uuid import UUID

import structlog

from sluice.clients.intake import IntakeClient
from sluice.contracts.chains import Chain, NewChain, RequestChain
from sluice.contracts.datasets import Dataset
from sluice.contracts.matching import bind, facts_of
from sluice.contracts.owners import EVERYONE, group_of_chain
from sluice.contracts.parameters import findings
from sluice.contracts.problems import NotFound, ServiceError
from sluice.contracts.states import DatasetState
from sluice.servicekit.access.behalf import person_asking
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from wfms.operator.domain.errors import (
    DatasetUnusable,
    DatasetWanted,
    RequestRefused,
    TemplateDisabled,
)
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_run_templates import read_run_template
from wfms.operator.usecases.read_templates import read_template
from wfms.operator.usecases.stand_in_dataset import stand_in_dataset

log = structlog.get_logger(__name__)

_GONE = {DatasetState.DELETING, DatasetState.DELETED}


async def request_chain(context: OperatorContext, request: RequestChain) -> tuple[Chain, bool]:
    """Precondition: the template and the data set exist, and the data set is not deleted (one that
    is still open is waited for); it is left out where the template takes none, and an empty one
    stands for it. Effect: a chain (True), or the one that is there for this data set, template
    version and the parameters given (False); the data set is not listed as unmatched any more.
    Messages: none of ours. Raises ``TemplateUnknown``, ``RunTemplateUnknown``,
    ``TemplateDisabled``, ``NotFound`` (the data set), ``DatasetUnusable``, ``Unprocessable``
    (parameters, a data set that is missing), ``NotAvailable``.
    """
    template = await _wanted(context.database, request)
    dataset = await _dataset(context, request, template)
    if dataset.state in _GONE:
        raise DatasetUnusable(dataset.name, dataset.state.value)
    person = person_asking()
    bound, _ = bind(template.plan, facts_of(dataset))
    chain = NewChain(
        dataset=dataset,
        template_id=template.id,
        template=template.name,
        template_version=template.version,
        plan=template.plan,
        params={**bound, **request.params},
        rank=request.rank,
        owner=None if person is None else person.name,
        group=_group(template, dataset, person),
    )
    made = await context.chains.new_chain(chain)
    await _not_unmatched_any_more(context.intake, dataset.uid)
    return made


def _group(template: StoredTemplate, dataset: Dataset, person: Person | None) -> str:
    """The chain's, as if it began by itself, unless who asks would not see it then."""
    group = group_of_chain(template.group, dataset.group)
    return group if person is None or person.sight.is_member(group) else person.own_group


async def _dataset(
    context: OperatorContext, request: RequestChain, template: StoredTemplate
) -> Dataset:
    if request.dataset_uid is not None:
        return await context.dms.dataset(request.dataset_uid)
    plan = template.plan
    if plan.takes_dataset:
        raise DatasetWanted(template.name, plan.data_input)
    if wrong := findings(plan, request.params):  # before anything is registered
        raise RequestRefused(wrong)
    person = person_asking()
    group = EVERYONE if person is None else person.own_group
    return await stand_in_dataset(context.dms, template, request.params, group=group)


async def _wanted(database: Database, request: RequestChain) -> StoredTemplate:
    if request.run_template is not None:
        return await read_run_template(database, request.run_template)
    template = await read_template(database, request.template)
    if template.disabled_at is not None:
        raise TemplateDisabled(template.name, template.disabled_at)
    return template


async def _not_unmatched_any_more(intake: IntakeClient, dataset: UUID) -> None:
    """It may stay on that list where the intake does not answer: that is a list for people."""
    try:
        await intake.dismiss(dataset)
    except NotFound:
        pass
    except ServiceError as error:
        log.warning("intake.not_told", dataset=str(dataset), reason=error.detail)
