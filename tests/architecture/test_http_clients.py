"""One module makes HTTP clients, and keeps tokens away from proxies."""

import ast

from tests.architecture.sources import PRODUCT, Source, list_sources

#: Modules that may make clients: the central module; the client of ``sluice run``, which must start
#: quickly and asks the central module for the proxy; requests within the process; OpenID Connect,
#: which gets its connection from the central module; and a crawler, which sends no token.
MAKERS = {
    "sluice/network/http_clients.py",
    "sluice/cwl_runner/rest.py",
    "sluice/servicekit/running/service_clients.py",
    "templates/masstimes/masstimes/polite.py",
}
_HTTPX = {"AsyncClient", "Client", "request", "stream", "get", "post", "put", "patch", "delete"}
_MAKERS_OF_CLIENTS = {
    *(f"httpx.{name}" for name in _HTTPX),
    "urllib.request.urlopen",
    "http.client.HTTPConnection",
    "http.client.HTTPSConnection",
}
_LAST_PARTS = {name.rpartition(".")[2] for name in _MAKERS_OF_CLIENTS}


def find_created_clients(source_files: tuple[Source, ...]) -> list[str]:
    return [
        source.at(node)
        for source in source_files
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _LAST_PARTS
        and ast.unparse(node.func) in _MAKERS_OF_CLIENTS
    ]


def test_only_known_modules_make_http_clients() -> None:
    clients = find_created_clients(list_sources(*PRODUCT, "stack", "templates"))
    assert [place for place in clients if place.partition(":")[0] not in MAKERS] == []
    assert any(place.startswith("sluice/network/http_clients.py:") for place in clients)


def test_http_client_made_elsewhere_is_found() -> None:
    text = "import httpx\nclient = httpx.AsyncClient(base_url=url)\n"
    assert find_created_clients((Source("x.py", ast.parse(text)),)) == ["x.py:2"]
