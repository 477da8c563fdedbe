"""Reads what somebody who starts a chain chooses from, and what is known of what they have
chosen."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chain_requirements import DatasetFacts, requires_text, unmet_dataset
from sluice.contracts.chains import Chain
from sluice.contracts.datasets import Dataset
from sluice.contracts.labels import Ambiguous, meant
from sluice.contracts.matching import bind, facts_of, objection_to
from sluice.contracts.problems import NotFound
from sluice.contracts.states import DatasetState
from sluice.visible_text import quoted
from wfms.operator.domain.errors import TemplateDisabled
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_templates import read_templates

#: Data sets offered; another one is named by its name or uid.
OFFERED = 200

_WORKABLE = [state for state in DatasetState if state.readable or state is DatasetState.OPEN]


@dataclass(frozen=True, slots=True)
class Prepared:
    """``dataset`` and ``template``: None where none was chosen, or there is none such; ``trouble``
    says so then. ``called``: the data sets that have the name, where there are several.
    ``present``: the newest chain that there is already for both. ``objection``: why the template
    would not take the data set by itself."""

    datasets: list[Dataset]
    templates: list[StoredTemplate]
    dataset: Dataset | None
    template: StoredTemplate | None
    trouble: str
    bound: Mapping[str, Any]
    present: Chain | None
    objection: str
    #: What the template requires of the data set and is not so, in words.
    unmet: str
    called: Sequence[Dataset] = ()

    @property
    def ready(self) -> bool:
        """Is everything chosen? A template that takes no data set is enough by itself."""
        return self.template is not None and (self.dataset is not None or self.of_values)

    @property
    def of_values(self) -> bool:
        return self.template is not None and not self.template.plan.takes_dataset


async def prepare_chain(context: OperatorContext, *, dataset: str, template: str) -> Prepared:
    """``dataset``: name or uid, ``template``: name; empty: not chosen yet. Effect: none. Raises
    ``NotAvailable``."""
    offered, templates, called = await asyncio.gather(
        context.dms.datasets(_WORKABLE, limit=OFFERED, newest=True),
        read_templates(context.database, disabled=True),
        _datasets(context.dms, dataset),
    )
    chosen = next((candidate for candidate in templates if candidate.name == template), None)
    found, trouble = None, ""
    try:
        found = meant(dataset, called)
    except Ambiguous as refusal:
        trouble = refusal.detail
    if chosen is not None and chosen.disabled_at is not None:
        trouble = TemplateDisabled(chosen.name, chosen.disabled_at).detail
        chosen = None
    elif chosen is not None and not chosen.plan.takes_dataset:
        found, called, trouble = None, [], ""
    elif dataset and not called:
        trouble = f"there is no data set {quoted(dataset)}"
    elif template and chosen is None:
        trouble = f"there is no template {quoted(template)}"
    bound: Mapping[str, Any] = {}
    present, why = None, None
    unmet = ""
    if found is not None and chosen is not None:
        bound, _ = bind(chosen.plan, facts_of(found))
        why = objection_to(found, chosen.plan, template=chosen.name)
        broken = unmet_dataset(chosen.plan, DatasetFacts.of(found))
        unmet = requires_text(broken) if broken else ""
        made = await context.chains.chains(dataset_uid=found.uid)
        present = next((chain for chain in made.chains if _same_version(chain, chosen)), None)
    several = called if found is None else ()
    return Prepared(
        datasets=offered.datasets,
        templates=templates,
        dataset=found,
        template=chosen,
        trouble=trouble,
        bound=bound,
        present=present,
        objection=why or "",
        unmet=unmet,
        called=several,
    )


def _same_version(chain: Chain, template: StoredTemplate) -> bool:
    return (chain.template_id, chain.template_version) == (template.id, template.version)


async def _datasets(dms: DmsClient, named: str) -> list[Dataset]:
    """None where there is none such, or none is named."""
    if not named:
        return []
    try:
        return [await dms.dataset(UUID(named))]
    except NotFound:
        return []
    except ValueError:
        return await dms.datasets_called(named)
