"""Roles of people, and headers that identify principals."""

from enum import StrEnum


class Role(StrEnum):
    """The role of a person. Each role includes the permissions of the roles before it."""

    VIEWER = "viewer"
    SUBMITTER = "submitter"
    SHIFT = "shift"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Return whether this role has all permissions of the other role."""
        order = list(Role)
        return order.index(self) >= order.index(other)

    def least(self, other: "Role") -> "Role":
        """Return the one of the two roles that has fewer permissions."""
        return other if self.includes(other) else self


#: Header in which the service that people ask says for whom it asks another one.
ON_BEHALF_HEADER = "Sluice-On-Behalf-Of"

#: Header in which a WMS gives a pilot the token that is its own, with each answer to a registration
#: or a heartbeat.
PILOT_TOKEN_HEADER = "Sluice-Pilot-Token"  # noqa: S105 - its name

#: Header by which a pilot shows, when it registers, that it has the key it registered with before;
#: the type of what it says (JWT), and how that is signed (RFC 9864).
PILOT_PROOF_HEADER = "Sluice-Pilot-Proof"
PILOT_PROOF, PILOT_PROOF_ALGORITHM = "sluice-pilot-proof+jwt", "Ed25519"
