"""Read the operations of the OpenAPI documents of the services with Schemathesis."""

import re
from typing import Any

import schemathesis
from schemathesis.core.result import Ok

from scripts.docs.services import build_app

#: Operations that end an object that other requests name.
_ENDS = re.compile(r"DELETE|PATCH|cancel|discard|stop|drain|disable|remove|revo|sign-off|finished")


def operations_of(service: str) -> list[Any]:
    """Return the operations of a service. Operations that end objects come last."""
    document = schemathesis.openapi.from_dict(build_app(service).openapi())
    operations = [each.ok() for each in document.get_all_operations() if isinstance(each, Ok)]
    return sorted(operations, key=lambda operation: _ENDS.search(operation.label) is not None)
