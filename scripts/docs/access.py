"""The page on permissions, from the policies that the routes declare."""

from collections.abc import Iterator, Mapping

from scripts.docs.services import build_app
from sluice.contracts.access.services import SERVICES
from sluice.servicekit.access.policy import RoutePolicy

_INTRODUCTION = """\
# Permissions of routes

`make docs` generates this page from the code. Each route of each service declares its callers. A
service with a route that declares none does not start.

- `viewer`, `submitter`, `shift`, `admin`: the roles of people. Each role has the permissions of the
  roles before it.
- `submitter:own`: a submitter who owns the object.
- `service:NAME`: a service of the system.
- `pilot:enrolled`: a principal that may register a pilot. `pilot:itself`: the pilot that the
  address names.
- `scraper`: a monitoring system with its own token, for metrics.
- `everybody`: no credential is needed.

A request without a credential gets 401. A request without the permission gets 403. Both answers are
problems (RFC 9457) and say what is missing. People authenticate with
[an account or a token](../how-to/accounts-and-roles.md).

Further routes are open to everybody: `POST /sign-in` and `POST /sign-out` of the web page, and
`GET /system/readyz` of [`sluice up`](../how-to/run-on-one-machine.md#access). Without
`SLUICE_ACCOUNTS`, the operator service and the DMS of
[separate processes](../how-to/run-in-production.md#authentication) treat a caller without a
credential as an `admin`.
"""


def access_page() -> str:
    """Return the text of the page."""
    return "\n".join([_INTRODUCTION, *(_section(service) for service in SERVICES)])


def list_policies(service: str) -> Mapping[str, RoutePolicy]:
    """Return the policies of a service's routes, by method and address."""
    policies: Mapping[str, RoutePolicy] = build_app(service).state.policies
    return policies


def _section(service: str) -> str:
    return "\n".join([f"## {service}\n", "| route | callers |", "| -- | -- |", *_rows(service), ""])


def _rows(service: str) -> Iterator[str]:
    policies = list_policies(service)
    for route in sorted(policies, key=lambda route: route.split(" ")[::-1]):
        method, address = route.split(" ")
        if method != "HEAD" or f"GET {address}" not in policies:
            yield f"| `{method} {address}` | {policies[route]} |"
