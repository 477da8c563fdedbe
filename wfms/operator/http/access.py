"""Access checks for Flask views: policies and the principal of a request."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, current_app, request

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.check import only_own, require
from sluice.servicekit.access.policy import RoutePolicy, get_policy
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller, find_principal

_PART = re.compile(r"<(?:\w+:)?(\w+)>")


#: Returns the owner of the object that an address (its rule and its parts) names.
Owner = Callable[[str, Mapping[str, Any]], str | None]


def check_access(flask: Flask, owner: Owner) -> None:
    """Check each request against the policy of its view. Register all views first.

    Args:
        flask: The application.
        owner: Returns the owner of the object that an address names.

    Raises:
        MissingPolicy: A view has no policy.
    """
    policies = {
        endpoint: get_policy(view, route=f"the page {endpoint}")
        for endpoint, view in flask.view_functions.items()
    }

    @flask.before_request
    def check() -> None:
        endpoint = request.endpoint
        if endpoint is None:  # no route: the 404 handler answers
            return
        principal, path = principal_now(), request.view_args or {}
        require(policies[endpoint], principal, path)
        if only_own(policies[endpoint], principal) and request.url_rule is not None:
            person = caller()
            if owner(request.url_rule.rule, path) != person.name:
                role = policies[endpoint].role
                raise Forbidden(
                    f"{person} may not do this: it requires the role {role}, or that you own it"
                )


def caller() -> Person:
    """Return the person who sends the request.

    The request must be one that only people may send. A principal that may do everything without
    being a person counts as an administrator.
    """
    principal = principal_now()
    return principal if isinstance(principal, Person) else Person(str(principal), Role.ADMIN)


def find_requesting_person() -> Person | None:
    """Return the person who sends the request, or None for anonymous requests and services."""
    principal = principal_now()
    return principal if isinstance(principal, Person) else None


def is_service_request() -> bool:
    """Return whether a service sends the request for itself, not on behalf of a person."""
    principal = principal_now()
    return isinstance(principal, ServiceCaller) and principal.behalf is None


def principal_now() -> Principal | None:
    """Return the principal of the current request, or None."""
    return find_principal(request.environ.get("asgi.scope", {}))


def may(endpoint: str, owner: str | None = None) -> bool:
    """Return whether the caller may see this page or submit its form.

    Args:
        endpoint: Endpoint of the page.
        owner: Owner of the object that the page is about.
    """
    declared = get_policy(current_app.view_functions[f"pages.{endpoint}"], route=endpoint)
    person = caller()
    if declared.role is not None and person.role.includes(declared.role):
        return True
    own = declared.own and owner == person.name
    return own and person.role.includes(Role.SUBMITTER)


def views_and_policies(flask: Flask) -> dict[str, RoutePolicy]:
    """Return the policies of all views by method and address, written as in FastAPI."""
    return {
        f"{method} {_format_address(rule.rule)}": get_policy(
            flask.view_functions[rule.endpoint], route=rule.endpoint
        )
        for rule in flask.url_map.iter_rules()
        for method in sorted((rule.methods or set()) - {"OPTIONS"})
    }


def _format_address(rule: str) -> str:
    return _PART.sub(r"{\1}", rule)
