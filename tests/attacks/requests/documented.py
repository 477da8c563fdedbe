"""Read the operations of the OpenAPI documents of the services with Schemathesis."""

import json
import re
from typing import Any

import schemathesis
from schemathesis.core.result import Ok

from tests.architecture.sources import ROOT

#: Operations that end an object that other requests name.
_ENDING_METHODS = re.compile(
    r"DELETE|PATCH|cancel|discard|stop|drain|disable|remove|revo|sign-off|finished"
)


def list_operations(service: str) -> list[Any]:
    """Return the operations of a service. Operations that end objects come last.

    The stored documents, which another test compares with the services, are read in a fraction of
    the time that it takes to build the services. Each test process reads them.
    """
    path = ROOT / "docs" / "reference" / "openapi" / f"{service}.json"
    document = schemathesis.openapi.from_dict(json.loads(path.read_text(encoding="utf-8")))
    operations = [each.ok() for each in document.get_all_operations() if isinstance(each, Ok)]
    return sorted(
        operations, key=lambda operation: _ENDING_METHODS.search(operation.label) is not None
    )
