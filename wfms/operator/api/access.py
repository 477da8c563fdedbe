"""Flask's views behind their policies, and who asks for them."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, current_app, request

from sluice.contracts.access import Role
from sluice.contracts.problems import Forbidden
from sluice.servicekit.access.check import only_own, require
from sluice.servicekit.access.policy import RoutePolicy, policy_of
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller, principal_of

_PART = re.compile(r"<(?:\w+:)?(\w+)>")


#: Says whose it is that an address (its rule, and its parts) names.
Owner = Callable[[str, Mapping[str, Any]], str | None]


def check_access(flask: Flask, owner: Owner) -> None:
    """Precondition: all views are there.

    Each is called for those alone who may. Raises ``NoPolicy``.
    """
    policies = {
        endpoint: policy_of(view, route=f"the page {endpoint}")
        for endpoint, view in flask.view_functions.items()
    }

    @flask.before_request
    def check() -> None:
        endpoint = request.endpoint
        if endpoint is None:  # nothing is served there, which is told as such
            return
        principal, path = principal_now(), request.view_args or {}
        require(policies[endpoint], principal, path)
        if only_own(policies[endpoint], principal) and request.url_rule is not None:
            person = caller()
            if owner(request.url_rule.rule, path) != person.name:
                role = policies[endpoint].role
                raise Forbidden(
                    f"{person} may not do this: it takes the role {role}, or to have made it"
                )


def caller() -> Person:
    """Precondition: of a request that only people may send. Whoever may do everything without being
    anybody counts as an administrator."""
    principal = principal_now()
    return principal if isinstance(principal, Person) else Person(str(principal), Role.ADMIN)


def person_who_asks() -> Person | None:
    """None: nobody that is known, or not a person."""
    principal = principal_now()
    return principal if isinstance(principal, Person) else None


def is_asked_by_service() -> bool:
    """Return whether a service asks for itself, and no person."""
    principal = principal_now()
    return isinstance(principal, ServiceCaller) and principal.behalf is None


def principal_now() -> Principal | None:
    """Return who sends the request that is being answered, or None."""
    return principal_of(request.environ.get("asgi.scope", {}))


def may(endpoint: str, owner: str | None = None) -> bool:
    """Whether whoever asks may have this page, or do what its form does. ``owner``: who has made
    what it is about."""
    declared = policy_of(current_app.view_functions[f"pages.{endpoint}"], route=endpoint)
    person = caller()
    if declared.role is not None and person.role.includes(declared.role):
        return True
    own = declared.own and owner == person.name
    return own and person.role.includes(Role.SUBMITTER)


def views_and_policies(flask: Flask) -> dict[str, RoutePolicy]:
    """By method and address, as FastAPI writes them."""
    return {
        f"{method} {_address(rule.rule)}": policy_of(
            flask.view_functions[rule.endpoint], route=rule.endpoint
        )
        for rule in flask.url_map.iter_rules()
        for method in sorted((rule.methods or set()) - {"OPTIONS"})
    }


def _address(rule: str) -> str:
    return _PART.sub(r"{\1}", rule)
