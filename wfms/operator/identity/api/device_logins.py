"""``/api/v1/device-logins``: sign-in of command-line clients in a browser (RFC 8628)."""

from sluice.contracts.access.device_login import (
    DeviceAnswer,
    DeviceLogin,
    DeviceQuestion,
    NewDeviceLogin,
)
from sluice.contracts.common.problems import Conflict, Forbidden, NotFound
from sluice.servicekit.access.policy import Other, policy
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route
from wfms.operator.identity.domain.errors import TooManyDeviceLogins
from wfms.operator.identity.usecases.device_logins.begin_device_login import begin_device_login
from wfms.operator.identity.usecases.device_logins.take_device_token import take_device_token

#: The caller is not signed in yet.
EVERYBODY = policy(Other.EVERYBODY)


class DeviceLoginRoutes:
    """The routes of the device authorization grant (RFC 8628)."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("POST", "/device-logins", "begin_device_login", self.begin, EVERYBODY,
                  "Begin the sign-in of a command by a browser on any machine (RFC 8628).",
                  answer=DeviceLogin, status=201, body=NewDeviceLogin,
                  errors=(TooManyDeviceLogins,), client=client_hints(retry=False)),
            Route("POST", "/device-logins/answers", "get_device_login", self.take, EVERYBODY,
                  "Return the token of a command, once, after somebody has allowed its sign-in.",
                  answer=DeviceAnswer, body=DeviceQuestion,
                  errors=(Forbidden, NotFound, Conflict)),
        ]  # fmt: skip

    async def begin(self, body: NewDeviceLogin) -> DeviceLogin:
        """Begin a sign-in."""
        return await begin_device_login(self._context, body)

    async def take(self, body: DeviceQuestion) -> DeviceAnswer:
        """Return the token of an approved sign-in, only once."""
        return await take_device_token(self._context, body.device_code.get_secret_value())
