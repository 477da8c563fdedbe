"""Every route of the REST interface."""

from wfms.operator.api.dependencies import Dependencies
from wfms.operator.api.rest.attention import AttentionRoutes
from wfms.operator.api.rest.chains import ChainRoutes
from wfms.operator.api.rest.passed_on import passed_on_routes
from wfms.operator.api.rest.queues import QueueRoutes
from wfms.operator.api.rest.route import Route
from wfms.operator.api.rest.run_templates import RunTemplateRoutes
from wfms.operator.api.rest.tasks import TaskRoutes
from wfms.operator.api.rest.templates import TemplateRoutes
from wfms.operator.api.rest.unmatched import UnmatchedRoutes


def all_routes(dependencies: Dependencies) -> list[Route]:
    return [
        *TemplateRoutes(dependencies).routes(),
        *RunTemplateRoutes(dependencies).routes(),
        *ChainRoutes(dependencies).routes(),
        *TaskRoutes(dependencies).routes(),
        *AttentionRoutes(dependencies).routes(),
        *QueueRoutes(dependencies).routes(),
        *UnmatchedRoutes(dependencies).routes(),
        *passed_on_routes(dependencies.others, largest=dependencies.settings.largest_body),
    ]
