"""The Flask blueprint of all web pages.

The server renders them. They work without JavaScript, which only keeps progress up to date.
"""

from datetime import timedelta

from flask import Blueprint, Response, request

from wfms.operator.api.bridge import Bridge
from wfms.operator.api.pages import csrf
from wfms.operator.api.pages.asking import AskingPages
from wfms.operator.api.pages.assets import AssetPages
from wfms.operator.api.pages.audit import AuditPages
from wfms.operator.api.pages.chains import ChainPages
from wfms.operator.api.pages.datasets import DatasetPages
from wfms.operator.api.pages.device_logins import DeviceLoginPages
from wfms.operator.api.pages.groups import GroupPages
from wfms.operator.api.pages.overview import OverviewPages
from wfms.operator.api.pages.page_routes import PageRoutes
from wfms.operator.api.pages.people import PeoplePages
from wfms.operator.api.pages.periods import PeriodPages
from wfms.operator.api.pages.pilots import PilotPages
from wfms.operator.api.pages.queues import QueuePages
from wfms.operator.api.pages.reruns import RerunPages
from wfms.operator.api.pages.run_templates import RunTemplatePages
from wfms.operator.api.pages.start import StartPages
from wfms.operator.api.pages.steps import StepPages
from wfms.operator.api.pages.storages import StoragePages
from wfms.operator.api.pages.tasks import TaskPages
from wfms.operator.api.pages.templates import TemplatePages
from wfms.operator.api.pages.times import TimesPages
from wfms.operator.api.pages.tools import ToolPages
from wfms.operator.usecases.context import OperatorContext


def pages_blueprint(context: OperatorContext, bridge: Bridge) -> Blueprint:
    """Return the blueprint with all pages."""
    pages = Blueprint(
        "pages", __name__, static_folder="static", static_url_path="/static", template_folder="html"
    )
    routes = PageRoutes(pages)
    chains = (ChainPages, RerunPages, StartPages)
    for part in (
        OverviewPages,
        DatasetPages,
        TemplatePages,
        RunTemplatePages,
        ToolPages,
        AssetPages,
        *chains,
        TaskPages,
        StepPages,
        AskingPages,
        PilotPages,
        TimesPages,
        QueuePages,
        StoragePages,
        PeriodPages,
        PeoplePages,
        DeviceLoginPages,
        AuditPages,
        GroupPages,
    ):
        part(context, bridge).add_to(routes)
    pages.before_request(_check_form)
    pages.after_request(_cache_static)
    return pages


def _check_form() -> None:
    if request.method == "POST":
        csrf.check_token()


def _cache_static(response: Response) -> Response:
    if request.endpoint == "pages.static" and "v" in request.args:
        response.cache_control.no_cache = None
        response.cache_control.public = True
        response.cache_control.max_age = int(timedelta(days=30).total_seconds())
    return response
