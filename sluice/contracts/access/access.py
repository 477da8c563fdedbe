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


#: The header in which the service that people use names the person to other services.
ON_BEHALF_HEADER = "Sluice-On-Behalf-Of"

#: The header of answers to registrations and heartbeats in which the WMS sends a pilot its own
#: token.
PILOT_TOKEN_HEADER = "Sluice-Pilot-Token"  # noqa: S105 - its name

#: The header of a registration with the proof that the pilot has the key of its first registration.
PILOT_PROOF_HEADER = "Sluice-Pilot-Proof"
#: The type of the proof (JWT), and the algorithm of its signature (RFC 9864).
PILOT_PROOF, PILOT_PROOF_ALGORITHM = "sluice-pilot-proof+jwt", "Ed25519"
