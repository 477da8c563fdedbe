"""The background loops of the service for human tasks."""

from functools import partial

from sluice.servicekit.running.loop import LoopDeclaration
from wfms.ask.settings import AskSettings
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.end_assignments import end_old_assignments
from wfms.ask.usecases.give_answers import give_answers
from wfms.ask.usecases.import_items import import_items
from wfms.ask.usecases.judge_devices import judge_devices
from wfms.ask.usecases.refuse_items import refuse_items

_FUNCTIONS = {
    "ask.take_in": import_items,
    "ask.judge": judge_devices,
    "ask.give": give_answers,
    "ask.refuse": refuse_items,
    "ask.lendings": end_old_assignments,
}


def declare_loops(context: AskContext, settings: AskSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    return [
        LoopDeclaration(name, settings.period, partial(function, context))
        for name, function in _FUNCTIONS.items()
    ]
