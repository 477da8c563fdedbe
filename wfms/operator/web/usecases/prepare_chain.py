"""The choices for somebody who starts a chain, and what is known about the current choice."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.labels import Ambiguous, meant
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet_dataset
from sluice.contracts.templates.matching import bind, facts_of, objection_to
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.errors import TemplateDisabled
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.read_templates import read_templates

#: Data sets that are offered. Others are selected by name or uid.
OFFERED = 200

_WORKABLE = [state for state in DatasetState if state.readable or state is DatasetState.OPEN]


@dataclass(frozen=True, slots=True)
class StartPage:
    """The choices and the current selection.

    Attributes:
        dataset: None if no data set is selected or the selected one does not exist.
        template: None if no template is selected or the selected one does not exist.
        trouble: Why the selection is not usable.
        called: The data sets that share the name, if there are several.
        present: The newest chain of this data set and template version.
        objection: Why the template would not take the data set by itself.
    """

    datasets: list[Dataset]
    templates: list[StoredTemplate]
    dataset: Dataset | None
    template: StoredTemplate | None
    trouble: str
    bound: Mapping[str, Any]
    present: Chain | None
    objection: str
    #: The requirement of the template that the data set does not meet, in words.
    unmet: str
    called: Sequence[Dataset] = ()

    @property
    def ready(self) -> bool:
        """Whether the selection is complete; not every template needs a data set."""
        return self.template is not None and (self.dataset is not None or self.of_values)

    @property
    def of_values(self) -> bool:
        """Whether a template is selected that takes no data set."""
        return self.template is not None and not self.template.plan.takes_dataset


async def prepare_chain(context: OperatorContext, *, dataset: str, template: str) -> StartPage:
    """Return the choices, and what is known about the selection.

    Args:
        context: The services to ask.
        dataset: The name or uid of the data set; empty if none is selected.
        template: The name of the template; empty if none is selected.

    Raises:
        NotAvailable: Another service does not answer.
    """
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
    return StartPage(
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
    """Return the data sets with this name or uid."""
    if not named:
        return []
    try:
        return [await dms.dataset(UUID(named))]
    except NotFound:
        return []
    except ValueError:
        return await dms.datasets_called(named)
