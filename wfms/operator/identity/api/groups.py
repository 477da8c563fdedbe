"""``/api/v1/groups``: members, weights and quotas of groups."""

from pydantic import TypeAdapter, ValidationError

from sluice.contracts.access.groups import Group, GroupList, SetGroup
from sluice.contracts.access.owners import GroupName
from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from sluice.servicekit.access.policy import ADMINS, VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, to_request_refused
from wfms.operator.identity.usecases.groups.list_groups import list_groups
from wfms.operator.identity.usecases.groups.set_group import set_group

_NAME: TypeAdapter[str] = TypeAdapter(GroupName)


class GroupRoutes:
    """The routes of groups."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/groups", "list_groups", self.list, VIEWERS,
                  "List the caller's groups with their members, fair share, usage and quotas.",
                  answer=GroupList, errors=(NotAvailable,)),
            Route("PATCH", "/groups/<string:group>", "set_group", self.set, ADMINS,
                  "Set the weight and the quotas of a group. `none` removes a quota.",
                  answer=Group, body=SetGroup,
                  errors=(Unprocessable, NotFound, NotAvailable)),
        ]  # fmt: skip

    async def list(self) -> GroupList:
        """List the groups that the caller may see."""
        return await list_groups(self._context)

    async def set(self, group: str, body: SetGroup) -> Group:
        """Set the weight and the quotas of a group."""
        try:
            _NAME.validate_python(group)
        except ValidationError as error:
            raise to_request_refused("group", error) from error
        return await set_group(self._context, group, body)
