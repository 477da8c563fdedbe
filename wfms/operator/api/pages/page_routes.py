"""How a web page is declared: its address, what shows or does it, and who may."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Blueprint

from sluice.contracts.access import Role
from sluice.servicekit.access.policy import RoutePolicy, policy, under

#: Called with the parts of the address by name.
View = Callable[..., Any]


class PageRoutes:
    def __init__(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint

    def get(self, rule: str, endpoint: str, view: View, role: Role) -> None:
        """``role``: the least of those who may see it."""
        self._add(rule, endpoint, view, access=policy(role), method="GET")

    def post(self, rule: str, endpoint: str, view: View, role: Role, *, own: bool = False) -> None:
        """``role``: the least of those who may do it; ``own``: or who has made what it names."""
        self._add(rule, endpoint, view, access=policy(role, own=own), method="POST")

    def _add(
        self, rule: str, endpoint: str, view: View, *, access: RoutePolicy, method: str
    ) -> None:
        @wraps(view)
        def declared(**path: Any) -> Any:
            return view(**path)

        under(access)(declared)
        self._blueprint.add_url_rule(rule, endpoint, declared, methods=[method])
