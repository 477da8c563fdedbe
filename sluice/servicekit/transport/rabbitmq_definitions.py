"""A virtual host in the format of RabbitMQ's management API (``POST /api/definitions``).

The document has the layout that the transport declares, limits as policies, and a user for each
service. A user has only the permissions that the contracts give to the service.
"""

import base64
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sluice.contracts.messaging.queues import DEAD_LETTER_KEEPER, QUEUES, SENDERS, Queue
from sluice.servicekit.transport.base import Topology
from sluice.servicekit.transport.rabbitmq_layout import (
    QuorumQueue,
    build_layout,
    dead_queue,
    delay_queues,
)
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class User:
    """A login of the broker, and the service that uses it."""

    login: str
    password: str = field(repr=False)
    service: str


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of services at the broker.

    ``consumer`` maps a queue to its service, and ``senders`` a destination to services. ``keeper``
    requeues or drops dead letters.
    """

    consumer: Mapping[str, str]
    senders: Mapping[str, frozenset[str]]
    keeper: str


ALL_ROLES = Roles(
    {queue.name: queue.consumer for queue in QUEUES.values()}, SENDERS, DEAD_LETTER_KEEPER
)


@dataclass(frozen=True, slots=True)
class Rights:
    """Permissions of a login: exchanges to publish to, and queues to consume from.

    No login may declare anything.
    """

    write: frozenset[str]
    read: frozenset[str]


def definitions(
    topology: Topology, users: Mapping[str, User], *, vhost: str = "/", roles: Roles = ALL_ROLES
) -> dict[str, Any]:
    """Return the document for one virtual host.

    A repeated upload only changes the salt of the passwords. It removes nothing else that exists.

    Args:
        topology: The queues.
        users: The login of each service. Services that share a login get all of their permissions.
        vhost: The name of the virtual host.
        roles: The roles of the services.

    Raises:
        ValueError: One login has two passwords.
    """
    layout = build_layout(topology)
    logins = _logins(users.values())
    return {
        "vhosts": [{"name": vhost}],
        "users": [_user(own[0]) for own in logins.values()],
        "permissions": [
            {"user": login, "vhost": vhost, "configure": "^$"}
            | _permission(build_rights({user.service for user in own}, topology, roles=roles))
            for login, own in logins.items()
        ],
        # Nothing is routed by topic.
        "topic_permissions": [],
        "exchanges": [
            {
                "name": name,
                "vhost": vhost,
                "type": "fanout",
                "durable": True,
                "auto_delete": False,
                "internal": False,
                "arguments": {},
            }
            for name in layout.exchanges
        ],
        "queues": [
            {
                "name": queue.name,
                "vhost": vhost,
                "durable": True,
                "auto_delete": False,
                "arguments": dict(queue.arguments),
            }
            for queue in layout.queues
        ],
        "bindings": [
            _binding(source, queue, vhost) for queue in layout.queues for source in queue.sources
        ],
        "policies": [_limit(queue, vhost) for queue in topology.queues.values()],
    }


def build_rights(
    services: Iterable[str], topology: Topology, *, roles: Roles = ALL_ROLES
) -> Rights:
    """Return the permissions that services need.

    Consumers move failed messages to retry queues or dead letters. The keeper requeues dead
    letters.
    """
    write: set[str] = set()
    read: set[str] = set()
    for service in services:
        write |= {
            destination for destination, senders in roles.senders.items() if service in senders
        }
        for queue in topology.queues.values():
            if roles.consumer.get(queue.name) == service:
                read.add(queue.name)
                write |= {dead_queue(queue.name), *delay_queues(queue)}
            if service == roles.keeper:
                read.add(dead_queue(queue.name))
                write.add(queue.name)
    return Rights(frozenset(write), frozenset(read))


def password_hash(password: str, salt: bytes | None = None) -> str:
    """Return a password in RabbitMQ's format ``rabbit_password_hashing_sha256``.

    It has four bytes of salt and then the digest of salt and password.
    """
    salt = secrets.token_bytes(4) if salt is None else salt
    return base64.b64encode(salt + sha256(salt + password.encode()).digest()).decode()


def _logins(users: Iterable[User]) -> dict[str, list[User]]:
    logins: dict[str, list[User]] = {}
    for user in users:
        logins.setdefault(user.login, []).append(user)
    for login, own in logins.items():
        if len({user.password for user in own}) > 1:
            services = ", ".join(sorted(user.service for user in own))
            raise ValueError(
                f"the broker's login {quoted(login)} of {services} has two passwords: give the"
                " same, or a login to each"
            )
    return logins


def _user(user: User) -> dict[str, Any]:
    return {
        "name": user.login,
        "password_hash": password_hash(user.password),
        "hashing_algorithm": "rabbit_password_hashing_sha256",
        "tags": "",
        "limits": {},
    }


def _permission(rights: Rights) -> dict[str, str]:
    return {"write": _build_alternatives(rights.write), "read": _build_alternatives(rights.read)}


def _build_alternatives(names: Iterable[str]) -> str:
    """Return a pattern for exactly these names. Without names, it matches only the empty name."""
    return f"^({'|'.join(re.escape(name) for name in sorted(names))})$" if names else "^$"


def _binding(source: str, queue: QuorumQueue, vhost: str) -> dict[str, Any]:
    target = {
        "destination": queue.name,
        "destination_type": "queue",
        "routing_key": "",
        "arguments": {},
    }
    return {"source": source, "vhost": vhost} | target


def _limit(queue: Queue, vhost: str) -> dict[str, Any]:
    """Return the policy that limits a queue and its dead letters.

    It is a policy, so that an administrator can change the limit without losing the queue.
    """
    names = _build_alternatives({queue.name, dead_queue(queue.name)})
    definition = {"max-length": queue.limit}
    return {
        "name": f"limit {queue.name}",
        "vhost": vhost,
        "pattern": names,
        "apply-to": "queues",
        "priority": 0,
    } | {"definition": definition}
