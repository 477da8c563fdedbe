"""The list of all REST routes."""

from wfms.operator.assets.api.assets import AssetRoutes
from wfms.operator.chains.api.chains import ChainRoutes
from wfms.operator.chains.api.client_leases import ClientLeaseRoutes
from wfms.operator.chains.api.datasets import DatasetRoutes
from wfms.operator.chains.api.steps import StepRoutes
from wfms.operator.chains.api.tasks import TaskRoutes
from wfms.operator.chains.api.unmatched import UnmatchedRoutes
from wfms.operator.context import OperatorContext
from wfms.operator.gateway.api.forwarded import forwarded_routes
from wfms.operator.http.route import Route
from wfms.operator.identity.api.device_logins import DeviceLoginRoutes
from wfms.operator.identity.api.groups import GroupRoutes
from wfms.operator.identity.api.people import PeopleRoutes
from wfms.operator.monitoring.api.attention import AttentionRoutes
from wfms.operator.monitoring.api.audit import AuditRoutes
from wfms.operator.monitoring.api.queues import QueueRoutes
from wfms.operator.secrets.api.secrets import SecretRoutes
from wfms.operator.templates.api.run_templates import RunTemplateRoutes
from wfms.operator.templates.api.templates import TemplateRoutes
from wfms.operator.templates.api.tools import ToolRoutes
from wfms.operator.web.api.times import TimesRoutes


def all_routes(context: OperatorContext, *, largest_body: int) -> list[Route]:
    """Return the declarations of all routes.

    Args:
        context: The context of the operator service.
        largest_body: Limit in bytes of a body that is forwarded to another service.
    """
    return [
        *TemplateRoutes(context).routes(),
        *RunTemplateRoutes(context).routes(),
        *ChainRoutes(context).routes(),
        *DatasetRoutes(context).routes(),
        *ClientLeaseRoutes(context).routes(),
        *TaskRoutes(context).routes(),
        *StepRoutes(context).routes(),
        *SecretRoutes(context).routes(),
        *PeopleRoutes(context).routes(),
        *DeviceLoginRoutes(context).routes(),
        *AuditRoutes(context).routes(),
        *GroupRoutes(context).routes(),
        *AssetRoutes(context).routes(),
        *ToolRoutes(context).routes(),
        *AttentionRoutes(context).routes(),
        *QueueRoutes(context).routes(),
        *TimesRoutes(context).routes(),
        *UnmatchedRoutes(context).routes(),
        *forwarded_routes(context.others, largest=largest_body),
    ]
