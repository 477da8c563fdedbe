"""The virtual host, logins, permissions, queues and limits of the broker.

They are set up with RabbitMQ's management API.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import httpx

from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.network.http_clients import http_client
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.transport.rabbitmq_definitions import User, definitions, password_hash
from sluice.setup.logins import ServiceLogin
from sluice.text.os_errors import reason_of

#: Bytes of salt before the digest in RabbitMQ's password hashes.
SALT = 4
#: Timeout in seconds of one request. An upload makes all queues, which takes a while in a cluster.
TIMEOUT = 60.0

Definitions = dict[str, list[dict[str, Any]]]

#: The fields that identify an object of each kind, and the fields that are compared.
KEY_FIELDS = {
    "vhosts": ("name",),
    "users": ("name",),
    "permissions": ("user", "vhost"),
    "exchanges": ("name", "vhost"),
    "queues": ("name", "vhost"),
    "bindings": ("source", "vhost", "destination", "routing_key"),
    "policies": ("name", "vhost"),
}
COMPARED_FIELDS = {
    "vhosts": ("name",),
    "users": ("password_hash",),
    "permissions": ("configure", "write", "read"),
    "exchanges": ("type", "durable"),
    "queues": ("durable", "arguments"),
    "bindings": ("destination_type",),
    "policies": ("pattern", "definition", "priority"),
}


async def set_up_broker(management_url: str, logins: Sequence[ServiceLogin]) -> list[str]:
    """Make what is missing, correct what differs, and return a message for each change.

    Other objects in the broker are not changed.

    Raises:
        NotAvailable: The broker does not answer, or refuses the administrator.
        Conflict: An existing object cannot be changed.
    """
    address = httpx.URL(management_url)
    conflicts = [login.variable for login in logins if login.user == address.username]
    if conflicts:
        raise Conflict(
            f"{conflicts[0]}: {address.username} is the broker's administrator; a service needs"
            " its own login"
        )
    users = {login.service: User(login.user, login.password, login.service) for login in logins}
    desired: Definitions = definitions(sluice_topology(), users, vhost=logins[0].place)
    auth = (address.username, address.password)
    url = f"{_base(address)}/api/"
    async with http_client(url, auth=auth, timeout=TIMEOUT) as client:
        current = await _read_definitions(client)
        _keep_salts(desired, current, {login.user: login.password for login in logins})
        changes = list(_differences(desired, current))
        if changes:
            _require_changeable(desired, current)
            await _send_request(client, "POST", "definitions", desired)
            if remaining := list(_differences(desired, await _read_definitions(client))):
                raise NotAvailable(f"the broker has not carried out everything yet: {remaining[0]}")
        return changes


def _base(address: httpx.URL) -> str:
    return str(address.copy_with(username=None, password=None)).rstrip("/")


async def _read_definitions(client: httpx.AsyncClient) -> Definitions:
    current: Definitions = (await _send_request(client, "GET", "definitions")).json()
    return current


async def _send_request(
    client: httpx.AsyncClient, method: str, path: str, body: Any = None
) -> httpx.Response:
    try:
        answer = await client.request(method, path, json=body)
    except httpx.TransportError as error:
        raise NotAvailable(
            f"RabbitMQ's management plugin does not answer: {reason_of(error)}"
        ) from error
    if answer.status_code in {401, 403}:
        raise NotAvailable(
            "RabbitMQ rejects the administrator's login: check the login, its password, and its"
            " tag 'administrator'"
        )
    if answer.is_success:
        return answer
    message = f"RabbitMQ answered {answer.status_code} to {method} {path}: {answer.text[:500]}"
    raise NotAvailable(message) if answer.is_server_error else Conflict(message)


def _keep_salts(
    desired_definitions: Definitions, current: Definitions, passwords: dict[str, str]
) -> None:
    """Hash the passwords with the existing salts, so that the hashes can be compared."""
    existing = {user["name"]: user.get("password_hash", "") for user in current.get("users", [])}
    for user in desired_definitions["users"]:
        salt = base64.b64decode(existing.get(user["name"], ""))[:SALT]
        if salt:
            user["password_hash"] = password_hash(passwords[user["name"]], salt)


def _differences(desired_definitions: Definitions, current: Definitions) -> Iterator[str]:
    for kind, keys in KEY_FIELDS.items():
        existing = {_key(item, keys): item for item in current.get(kind, [])}
        for item in desired_definitions[kind]:
            present = existing.get(_key(item, keys))
            name = " → ".join(str(item[key]) for key in keys if key not in {"vhost", "routing_key"})
            if present is None:
                yield f"{kind}: {name} made"
            elif [part for part in COMPARED_FIELDS[kind] if present.get(part) != item[part]]:
                yield f"{kind}: {name} changed"
            elif kind == "users" and present.get("tags"):
                yield f"{kind}: {name} is no longer {present['tags']}"


def _require_changeable(desired_definitions: Definitions, current: Definitions) -> None:
    """Check that exchanges and queues need no change, because their arguments are fixed.

    Raises:
        Conflict: One of them differs.
    """
    for kind in ("exchanges", "queues"):
        existing = {_key(item, KEY_FIELDS[kind]): item for item in current.get(kind, [])}
        for item in desired_definitions[kind]:
            present = existing.get(_key(item, KEY_FIELDS[kind]))
            if present is not None and any(
                present.get(part) != item[part] for part in COMPARED_FIELDS[kind]
            ):
                raise Conflict(
                    f"{kind}: {item['name']} in virtual host {item['vhost']} was declared"
                    " differently and cannot be changed: stop the services, wait until it is"
                    " empty, delete it, and repeat the command"
                )


def _key(item: dict[str, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(item[key] for key in keys)
