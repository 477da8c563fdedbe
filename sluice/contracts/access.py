"""Who asks: roles of people, and services by their names."""

from enum import StrEnum


class Role(StrEnum):
    """Of a person; each may do what the ones before it may."""

    VIEWER = "viewer"
    SUBMITTER = "submitter"
    SHIFT = "shift"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


class Service(StrEnum):
    """That asks others. ``SETUP``: what prepares an installation."""

    DMS = "dms"
    WMS = "wms"
    OPERATOR = "wfms.operator"
    INTAKE = "wfms.intake"
    CHAINS = "wfms.chains"
    WATCHER = "wfms.watcher"
    SETUP = "setup"
