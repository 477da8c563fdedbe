"""The page on permissions, from the policies that the routes declare."""

from collections.abc import Iterator, Mapping

from scripts.docs.services import app_of
from sluice.contracts.access.services import SERVICES
from sluice.servicekit.access.policy import RoutePolicy

_INTRODUCTION = """\
# Who may do what

Every route of every service says who may ask for it; one that does not keeps its service from
starting. Made from the code by `make docs`.

- `viewer`, `submitter`, `shift`, `admin`: people; each may do what the ones before it may.
- `submitter:own`: a submitter, of what he has made himself.
- `service:NAME`: a service of the system.
- `pilot:enrolled`: whoever may become a pilot; `pilot:itself`: the pilot that the address names.
- `scraper`: what reads metrics, by a token of its own.
- `everybody`: no credential is needed.

A request without a credential is answered 401, one of somebody who may not 403, both as a problem
(RFC 9457) that says what is missing. People say who they are by
[an account or a token](../how-to/accounts-and-roles.md). Beside the routes below `POST /sign-in`
and `POST /sign-out` of the page are for everybody, and, of a system of `sluice up`
([who may](../how-to/run-on-one-machine.md#who-may)), `GET /system/readyz`. Separate processes
without `SLUICE_ACCOUNTS` ([who asks whom](../how-to/run-in-production.md#who-asks-whom)): the
operator service and the DMS take whoever gives no credential for an `admin`.
"""


def access_page() -> str:
    """Return the text of the page."""
    return "\n".join([_INTRODUCTION, *(_section(service) for service in SERVICES)])


def policies_of(service: str) -> Mapping[str, RoutePolicy]:
    """Return the policies of a service's routes, by method and address."""
    found: Mapping[str, RoutePolicy] = app_of(service).state.policies
    return found


def _section(service: str) -> str:
    return "\n".join([f"## {service}\n", "| route | who |", "| -- | -- |", *_rows(service), ""])


def _rows(service: str) -> Iterator[str]:
    policies = policies_of(service)
    for route in sorted(policies, key=lambda route: route.split(" ")[::-1]):
        method, address = route.split(" ")
        if method != "HEAD" or f"GET {address}" not in policies:
            yield f"| `{method} {address}` | {policies[route]} |"
