"""Declarations of web pages: address, view and policy."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Blueprint

from sluice.contracts.access.access import Role
from sluice.servicekit.access.policy import RoutePolicy, policy, under

#: Called with the parts of the address by name.
View = Callable[..., Any]


class PageRoutes:
    """Adds pages with their policies to a Flask blueprint."""

    def __init__(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint

    def get(self, rule: str, endpoint: str, view: View, role: Role) -> None:
        """Register a page.

        Args:
            rule: Address of the page.
            endpoint: Endpoint of the page.
            view: Renders the page.
            role: The lowest role that may see the page.
        """
        self._add(rule, endpoint, view, access=policy(role), method="GET")

    def post(self, rule: str, endpoint: str, view: View, role: Role, *, own: bool = False) -> None:
        """Register the target of a form.

        Args:
            rule: Address of the target.
            endpoint: Endpoint of the target.
            view: Handles the form.
            role: The lowest role that may submit the form.
            own: The owner of the object in the address may submit it, too.
        """
        self._add(rule, endpoint, view, access=policy(role, own=own), method="POST")

    def _add(
        self, rule: str, endpoint: str, view: View, *, access: RoutePolicy, method: str
    ) -> None:
        @wraps(view)
        def declared(**path: Any) -> Any:
            return view(**path)

        under(access)(declared)
        self._blueprint.add_url_rule(rule, endpoint, declared, methods=[method])
