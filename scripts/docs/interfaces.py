"""OpenAPI documents of the services, and one AsyncAPI document of the messages between them."""

import ast
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from scripts.docs.services import build_app, build_service
from scripts.docs.source_comments import first_sentence
from sluice.contracts.access.services import SERVICES, CallingService
from sluice.contracts.messaging import messages
from sluice.contracts.messaging.messages import EVENTS, PAYLOADS, CloudEvent
from sluice.contracts.messaging.queues import QUEUES
from sluice.servicekit.messages.consumer import QueueConsumer, WakeConsumer
from sluice.servicekit.web.openapi import GATEWAY, remove_unused_schemas

_REF = "#/components/schemas/{model}"
_CONTENT_TYPE = "application/cloudevents+json"


def openapi_document(service: str) -> str:
    """Return the OpenAPI document of a service."""
    return as_json(build_app(service).openapi())


def forwarded_document() -> str:
    """Return the OpenAPI document of the routes that the operator service forwards.

    Raises:
        ValueError: Two services have different schemas with the same name.
    """
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {}
    for service in sorted({*SERVICES} - {CallingService.OPERATOR}):
        part = _forwarded_part(service)
        for path, operations in part["paths"].items():
            paths.setdefault(path, {}).update(operations)
        for name, schema in part["components"]["schemas"].items():
            if schemas.setdefault(name, schema) != schema:
                raise ValueError(f"{service} and another service have different schemas {name}")
    return as_json({"paths": paths, "components": {"schemas": schemas}})


def _forwarded_part(service: str) -> dict[str, Any]:
    """Return the operations that the service declares for the gateway, with their schemas."""
    document = build_app(service).openapi()
    part: dict[str, Any] = {
        "paths": {},
        "components": {"schemas": document["components"]["schemas"]},
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if GATEWAY in operation:
                forwarded = operation | {GATEWAY: {"service": service, **operation[GATEWAY]}}
                part["paths"].setdefault(path, {})[method] = forwarded
    remove_unused_schemas(part)
    return part


def as_json(document: dict[str, Any]) -> str:
    """Return a document as JSON text with sorted keys, and with a line for each third-level entry.

    Entries of the third level are operations and schemas.
    """
    return _format(document, levels=3) + "\n"


def _format(value: Any, *, levels: int, indent: str = "") -> str:
    if levels == 0 or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    inner = f"{indent}  "
    lines = ",\n".join(
        f"{inner}{json.dumps(key)}: {_format(part, levels=levels - 1, indent=inner)}"
        for key, part in sorted(value.items())
    )
    return f"{{\n{lines}\n{indent}}}"


def asyncapi_document() -> str:
    """Return the AsyncAPI 3.0 document; senders and receivers are read from the services' code."""
    models: list[type[BaseModel]] = [CloudEvent, *PAYLOADS.values()]
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    document: dict[str, Any] = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Sluice: messages between services",
            "version": "1",
            "description": (
                "Every message is a CloudEvent in structured JSON mode. Commands are stored in"
                " the queue of their type. An event is copied into each queue that is bound to"
                " it, and only wakes its consumer."
            ),
        },
        "defaultContentType": _CONTENT_TYPE,
        "channels": {_key(name): _channel(name, queue.types) for name, queue in QUEUES.items()},
        "operations": {**_receive_operations(), **_send_operations()},
        "components": {
            "messages": {_key(name): _message(name) for name in PAYLOADS},
            "schemas": schemas["$defs"],
        },
    }
    remove_unused_schemas(document)
    return as_json(document)


def _key(name: str) -> str:
    """Return an identifier for AsyncAPI; names with dots stay in ``address`` and ``name``."""
    return name.replace(".", "-")


def _channel(queue: str, types: frozenset[str]) -> dict[str, Any]:
    return {
        "address": queue,
        "messages": {
            _key(name): {"$ref": f"#/components/messages/{_key(name)}"} for name in sorted(types)
        },
    }


def _message(name: str) -> dict[str, Any]:
    payload = PAYLOADS[name]
    return {
        "name": name,
        "title": "event" if name in EVENTS else "command",
        "summary": first_sentence(payload),
        "contentType": _CONTENT_TYPE,
        "payload": {
            "allOf": [
                {"$ref": _REF.format(model="CloudEvent")},
                {
                    "properties": {
                        "type": {"const": name},
                        "data": {"$ref": _REF.format(model=payload.__name__)},
                    }
                },
            ]
        },
    }


def _receive_operations() -> dict[str, Any]:
    return {
        f"{_key(service)}-receives-{_key(queue)}": {
            "action": "receive",
            "channel": {"$ref": f"#/channels/{_key(queue)}"},
        }
        for service in SERVICES
        for queue in list_received_queues(service)
    }


def list_received_queues(service: str) -> list[str]:
    """Return the queues whose consumers the service starts."""
    components = build_service(service).components
    return sorted(
        component.queue
        for component in components
        if isinstance(component, QueueConsumer | WakeConsumer)
    )


def _send_operations() -> dict[str, Any]:
    operations: dict[str, Any] = {}
    for service in SERVICES:
        for name in list_sent_messages(service):
            for queue in sorted(one.name for one in QUEUES.values() if name in one.types):
                operations[f"{_key(service)}-sends-{_key(name)}-to-{_key(queue)}"] = {
                    "action": "send",
                    "channel": {"$ref": f"#/channels/{_key(queue)}"},
                    "messages": [{"$ref": f"#/channels/{_key(queue)}/messages/{_key(name)}"}],
                }
    return operations


def list_sent_messages(service: str) -> list[str]:
    """Return the message types that the service's code passes to ``transaction.send``."""
    message_types: set[str] = set()
    for path in sorted(Path(*service.split(".")).rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match call:
                case ast.Call(func=ast.Attribute(attr="send"), args=[ast.Name(id=name), *_]) if (
                    name.isupper()
                ):
                    message_types.add(getattr(messages, name))
    return sorted(message_types)
