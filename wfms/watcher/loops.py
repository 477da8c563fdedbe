"""The background loop of the task watcher."""

from functools import partial

from sluice.servicekit.running.loop import LoopDeclaration
from wfms.watcher.settings import WatcherSettings
from wfms.watcher.usecases.context import WatcherContext
from wfms.watcher.usecases.follow_watches import follow_watches


def declare_loops(context: WatcherContext, settings: WatcherSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    return [
        LoopDeclaration("watcher.follow_watches", settings.period, partial(follow_watches, context))
    ]
