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


class CallingService(StrEnum):
    """That asks others. ``SETUP``: what prepares an installation."""

    DMS = "dms"
    WMS = "wms"
    OPERATOR = "wfms.operator"
    INTAKE = "wfms.intake"
    CHAINS = "wfms.chains"
    WATCHER = "wfms.watcher"
    SETUP = "setup"


#: Header in which a WMS gives a pilot the token that is its own, with each answer to a registration
#: or a heartbeat.
PILOT_TOKEN_HEADER = "Sluice-Pilot-Token"  # noqa: S105 - its name
