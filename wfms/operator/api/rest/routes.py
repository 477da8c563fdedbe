"""The list of all REST routes."""

from wfms.operator.api.rest.assets import AssetRoutes
from wfms.operator.api.rest.attention import AttentionRoutes
from wfms.operator.api.rest.audit import AuditRoutes
from wfms.operator.api.rest.chains import ChainRoutes
from wfms.operator.api.rest.client_leases import ClientLeaseRoutes
from wfms.operator.api.rest.datasets import DatasetRoutes
from wfms.operator.api.rest.device_logins import DeviceLoginRoutes
from wfms.operator.api.rest.forwarded import forwarded_routes
from wfms.operator.api.rest.groups import GroupRoutes
from wfms.operator.api.rest.limits import LimitRoutes
from wfms.operator.api.rest.people import PeopleRoutes
from wfms.operator.api.rest.queues import QueueRoutes
from wfms.operator.api.rest.route import Route
from wfms.operator.api.rest.run_templates import RunTemplateRoutes
from wfms.operator.api.rest.secrets import SecretRoutes
from wfms.operator.api.rest.sites import SiteRoutes
from wfms.operator.api.rest.steps import StepRoutes
from wfms.operator.api.rest.tasks import TaskRoutes
from wfms.operator.api.rest.templates import TemplateRoutes
from wfms.operator.api.rest.times import TimesRoutes
from wfms.operator.api.rest.tools import ToolRoutes
from wfms.operator.api.rest.unmatched import UnmatchedRoutes
from wfms.operator.usecases.context import OperatorContext


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
        *LimitRoutes(context).routes(),
        *SecretRoutes(context).routes(),
        *PeopleRoutes(context).routes(),
        *DeviceLoginRoutes(context).routes(),
        *AuditRoutes(context).routes(),
        *GroupRoutes(context).routes(),
        *SiteRoutes(context).routes(),
        *AssetRoutes(context).routes(),
        *ToolRoutes(context).routes(),
        *AttentionRoutes(context).routes(),
        *QueueRoutes(context).routes(),
        *TimesRoutes(context).routes(),
        *UnmatchedRoutes(context).routes(),
        *forwarded_routes(context.others, largest=largest_body),
    ]
