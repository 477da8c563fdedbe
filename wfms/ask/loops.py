"""The background loops of the service for human tasks."""

from functools import partial

from sluice.servicekit.running.loop import LoopDeclaration
from wfms.ask.settings import AskSettings
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.deliver_answers import deliver_answers
from wfms.ask.usecases.end_assignments import end_assignments
from wfms.ask.usecases.exclude_careless_browsers import exclude_careless_browsers
from wfms.ask.usecases.import_items import import_items
from wfms.ask.usecases.refuse_items import refuse_items

_FUNCTIONS = {
    "ask.import_items": import_items,
    "ask.exclude_careless_browsers": exclude_careless_browsers,
    "ask.deliver_answers": deliver_answers,
    "ask.refuse_items": refuse_items,
    "ask.end_assignments": end_assignments,
}


def declare_loops(context: AskContext, settings: AskSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    return [
        LoopDeclaration(name, settings.period, partial(function, context))
        for name, function in _FUNCTIONS.items()
    ]
