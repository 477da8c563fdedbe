"""The choices for somebody who starts a chain, and what is known about the current choice."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.labels import AmbiguousName, select_dataset
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet_dataset
from sluice.contracts.templates.matching import bind, facts_of, find_rejection_reason
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.errors import TemplateDisabled
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.list_templates import list_templates

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
        namesakes: The data sets that share the name, if there are several.
        present: The newest chain of this data set and template version.
        rejection_reason: Why the template would not take the data set automatically.
    """

    datasets: list[Dataset]
    templates: list[StoredTemplate]
    dataset: Dataset | None
    template: StoredTemplate | None
    trouble: str
    metadata_values: Mapping[str, Any]
    present: Chain | None
    rejection_reason: str
    #: The requirement of the template that the data set does not meet, in words.
    unmet: str
    namesakes: Sequence[Dataset] = ()

    @property
    def ready(self) -> bool:
        """Whether the selection is complete; not every template needs a data set."""
        return self.template is not None and (self.dataset is not None or self.takes_only_values)

    @property
    def takes_only_values(self) -> bool:
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
    dataset_page, templates, candidates = await asyncio.gather(
        context.dms.list_datasets(state=_WORKABLE, limit=OFFERED, newest=True),
        list_templates(context.database, disabled=True),
        _find_datasets(context.dms, dataset),
    )
    selected_template = next(
        (candidate for candidate in templates if candidate.name == template), None
    )
    selected_dataset, trouble = None, ""
    try:
        selected_dataset = select_dataset(dataset, candidates)
    except AmbiguousName as refusal:
        trouble = refusal.detail
    if selected_template is not None and selected_template.disabled_at is not None:
        trouble = TemplateDisabled(selected_template.name, selected_template.disabled_at).detail
        selected_template = None
    elif selected_template is not None and not selected_template.plan.takes_dataset:
        selected_dataset, candidates, trouble = None, [], ""
    elif dataset and not candidates:
        trouble = f"there is no data set {quoted(dataset)}"
    elif template and selected_template is None:
        trouble = f"there is no template {quoted(template)}"
    metadata_values: Mapping[str, Any] = {}
    present, rejection_reason = None, None
    unmet = ""
    if selected_dataset is not None and selected_template is not None:
        metadata_values, _ = bind(selected_template.plan, facts_of(selected_dataset))
        rejection_reason = find_rejection_reason(
            selected_dataset, selected_template.plan, template=selected_template.name
        )
        broken = unmet_dataset(selected_template.plan, DatasetFacts.of(selected_dataset))
        unmet = requires_text(broken) if broken else ""
        chain_page = await context.chains.list_chains(dataset_uid=selected_dataset.uid)
        present = next(
            (chain for chain in chain_page.chains if _same_version(chain, selected_template)), None
        )
    several = candidates if selected_dataset is None else ()
    return StartPage(
        datasets=dataset_page.datasets,
        templates=templates,
        dataset=selected_dataset,
        template=selected_template,
        trouble=trouble,
        metadata_values=metadata_values,
        present=present,
        rejection_reason=rejection_reason or "",
        unmet=unmet,
        namesakes=several,
    )


def _same_version(chain: Chain, template: StoredTemplate) -> bool:
    return (chain.template_id, chain.template_version) == (template.id, template.version)


async def _find_datasets(dms: DmsClient, name_or_uid: str) -> list[Dataset]:
    """Return the data sets with this name or uid."""
    if not name_or_uid:
        return []
    try:
        return [await dms.get_dataset(UUID(name_or_uid))]
    except NotFound:
        return []
    except ValueError:
        return await dms.list_datasets_by_name(name_or_uid)
