"""The command `sluice template share`."""

from sluice.cli.errors import plain_errors
from sluice.cli.options import NewGroupOption, SharedArgument, TemplateArgument
from sluice.cli.ownership import describe_ownership
from sluice.cli.system import System, with_system
from sluice.contracts.access.owners import Share


@with_system
def share(
    system: System,
    name: TemplateArgument,
    groups: SharedArgument = None,
    *,
    group: NewGroupOption = None,
) -> None:
    """Set which groups see a template, in all its versions, besides its own.

    Other groups no longer see it.
    """
    request = plain_errors(lambda: Share(shared_with=groups or [], group=group))
    shared = system.ask(lambda c: c.operator.share_template(name, request))
    ownership = describe_ownership(shared.owner, shared.group, shared.shared_with) or "everybody's"
    system.answer(shared, f"{shared.name}: {ownership}")
