"""RabbitMQ's management interface: copies of real messages are stored, and published again."""

from typing import Any
from urllib.parse import quote

import httpx

#: Virtual host of the stack.
VHOST = "sluice"
#: Number of stored copies for each destination; the oldest are dropped.
_MAX_COPIES = 100


class MessageCopies:
    """An additional queue for each destination."""

    def __init__(self, management_url: str, destinations: list[str]) -> None:
        self._http = httpx.AsyncClient(base_url=management_url, timeout=10)
        self._destinations = destinations

    async def start_copying(self) -> None:
        arguments = {"x-max-length": _MAX_COPIES, "x-overflow": "drop-head"}
        for destination in self._destinations:
            await self._send_request(
                "PUT",
                f"/api/queues/{VHOST}/{_get_queue_name(destination)}",
                {"durable": True, "arguments": arguments},
            )
            await self._send_request(
                "POST",
                f"/api/bindings/{VHOST}/e/{quote(destination)}/q/{_get_queue_name(destination)}",
                {"routing_key": ""},
            )

    async def publish_again(self, destination: str, copies: int) -> int:
        """Publish copies of stored messages again, and return their number.

        Raises ``httpx.HTTPError``.
        """
        request = {"count": copies, "ackmode": "ack_requeue_false", "encoding": "base64"}
        messages: list[dict[str, Any]] = (
            await self._send_request(
                "POST", f"/api/queues/{VHOST}/{_get_queue_name(destination)}/get", request
            )
        ).json()
        for message in messages:
            copy = {key: message[key] for key in ("properties", "payload", "payload_encoding")} | {
                "routing_key": ""
            }
            await self._send_request(
                "POST", f"/api/exchanges/{VHOST}/{quote(destination)}/publish", copy
            )
        return len(messages)

    async def stop_copying(self) -> None:
        """Delete the additional queues; raise ``httpx.HTTPError`` on failure."""
        for destination in self._destinations:
            await self._send_request(
                "DELETE", f"/api/queues/{VHOST}/{_get_queue_name(destination)}", None
            )
        await self._http.aclose()

    async def _send_request(
        self, method: str, path: str, body: dict[str, Any] | None
    ) -> httpx.Response:
        return (await self._http.request(method, path, json=body)).raise_for_status()


def _get_queue_name(destination: str) -> str:
    return f"faults.tap.{destination}"
