"""Client of the operator service: the one address that people and the command line need."""

from sluice.clients.operator.assets import AssetCalls
from sluice.clients.operator.audit import AuditCalls
from sluice.clients.operator.chains import ChainCalls
from sluice.clients.operator.datasets import DatasetCalls
from sluice.clients.operator.groups import GroupCalls
from sluice.clients.operator.human_tasks import HumanStepCalls
from sluice.clients.operator.operations import OperationCalls
from sluice.clients.operator.people import PeopleCalls
from sluice.clients.operator.secrets import SecretCalls
from sluice.clients.operator.tasks import TaskCalls
from sluice.clients.operator.templates import TemplateCalls
from sluice.clients.operator.times import TimesCalls
from sluice.clients.operator.tools import ToolCalls


class OperatorClient(
    TemplateCalls,
    ChainCalls,
    TaskCalls,
    DatasetCalls,
    OperationCalls,
    SecretCalls,
    TimesCalls,
    AssetCalls,
    ToolCalls,
    PeopleCalls,
    AuditCalls,
    GroupCalls,
    HumanStepCalls,
):
    """Client of the operator service. Errors are as in ``ServiceClient``."""

    service = "wfms.operator"
