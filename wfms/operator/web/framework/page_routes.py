"""Declarations of web pages: address, view, policy, and place in the navigation."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Blueprint

from sluice.contracts.access.access import Role
from sluice.servicekit.access.policy import RoutePolicy, policy, under
from wfms.operator.web.framework.navigation import Link, Navigation

#: Called with the parts of the address by name.
View = Callable[..., Any]


class PageRoutes:
    """Adds pages with their policies to a Flask blueprint, and their links to the navigation."""

    def __init__(self, blueprint: Blueprint, navigation: Navigation) -> None:
        self._blueprint = blueprint
        self._navigation = navigation

    def get(
        self,
        rule: str,
        endpoint: str,
        view: View,
        role: Role,
        *,
        link: Link | None = None,
        below: str | None = None,
    ) -> None:
        """Register a page.

        Args:
            rule: Address of the page.
            endpoint: Endpoint of the page.
            view: Renders the page.
            role: The lowest role that may see the page.
            link: The link of the navigation to the page.
            below: Endpoint of the page whose link is highlighted on this page.
        """
        self._add(rule, endpoint, view, access=policy(role), method="GET")
        if link is not None:
            self._navigation.add_link(endpoint, link)
        self._add_part(endpoint, below)

    def post(
        self,
        rule: str,
        endpoint: str,
        view: View,
        role: Role,
        *,
        own: bool = False,
        below: str | None = None,
    ) -> None:
        """Register the target of a form.

        Args:
            rule: Address of the target.
            endpoint: Endpoint of the target.
            view: Handles the form.
            role: The lowest role that may submit the form.
            own: The owner of the object in the address may submit it, too.
            below: Endpoint of the page whose link is highlighted if the target shows a page.
        """
        self._add(rule, endpoint, view, access=policy(role, own=own), method="POST")
        self._add_part(endpoint, below)

    def _add_part(self, endpoint: str, below: str | None) -> None:
        if below is not None:
            self._navigation.add_part(endpoint, below=below)

    def _add(
        self, rule: str, endpoint: str, view: View, *, access: RoutePolicy, method: str
    ) -> None:
        @wraps(view)
        def declared(**path: Any) -> Any:
            return view(**path)

        under(access)(declared)
        self._blueprint.add_url_rule(rule, endpoint, declared, methods=[method])
