"""The Flask blueprint of all web pages.

The server renders them. They work without JavaScript, which only keeps progress up to date.
"""

from datetime import timedelta

from flask import Blueprint, Response, request

from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.form_tokens import check_form_token
from wfms.operator.web.framework.navigation import Navigation
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.pages.assets import AssetPages
from wfms.operator.web.pages.audit import AuditPages
from wfms.operator.web.pages.chains import ChainPages
from wfms.operator.web.pages.datasets import DatasetPages
from wfms.operator.web.pages.device_logins import DeviceLoginPages
from wfms.operator.web.pages.groups import GroupPages
from wfms.operator.web.pages.human_tasks import HumanTaskPages
from wfms.operator.web.pages.overview import OverviewPages
from wfms.operator.web.pages.people import PeoplePages
from wfms.operator.web.pages.periods import PeriodPages
from wfms.operator.web.pages.pilots import PilotPages
from wfms.operator.web.pages.queues import QueuePages
from wfms.operator.web.pages.reruns import RerunPages
from wfms.operator.web.pages.run_templates import RunTemplatePages
from wfms.operator.web.pages.start import StartPages
from wfms.operator.web.pages.steps import StepPages
from wfms.operator.web.pages.storages import StoragePages
from wfms.operator.web.pages.tasks import TaskPages
from wfms.operator.web.pages.templates import TemplatePages
from wfms.operator.web.pages.times import TimesPages
from wfms.operator.web.pages.tools import ToolPages


def pages_blueprint(context: OperatorContext, bridge: Bridge, navigation: Navigation) -> Blueprint:
    """Return the blueprint with all pages, which add their links to the navigation.

    The links of a group have the order of their pages here.
    """
    pages = Blueprint(
        "pages", __name__, static_folder="static", static_url_path="/static", template_folder="html"
    )
    routes = PageRoutes(pages, navigation)
    chains = (ChainPages, RerunPages, StartPages)
    for part in (
        OverviewPages,
        *chains,
        TaskPages,
        StepPages,
        HumanTaskPages,
        TimesPages,
        DatasetPages,
        PeriodPages,
        StoragePages,
        AssetPages,
        TemplatePages,
        RunTemplatePages,
        ToolPages,
        PilotPages,
        QueuePages,
        GroupPages,
        PeoplePages,
        DeviceLoginPages,
        AuditPages,
    ):
        part(context, bridge).add_to(routes)
    pages.before_request(_check_form)
    pages.after_request(_cache_static)
    return pages


def _check_form() -> None:
    if request.method == "POST":
        check_form_token()


def _cache_static(response: Response) -> Response:
    if request.endpoint == "pages.static" and "v" in request.args:
        response.cache_control.no_cache = None
        response.cache_control.public = True
        response.cache_control.max_age = int(timedelta(days=30).total_seconds())
    return response
