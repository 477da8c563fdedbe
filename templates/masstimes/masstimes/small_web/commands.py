"""The commands `mt-web` and `mt-web-change`.

`mt-web` serves a small web until it is stopped. `mt-web-change` changes some of its sites.
"""

import argparse
import asyncio
import json
import socket
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import httpx

from masstimes.small_web.dioceses import first_page
from masstimes.small_web.parishes import SERVICE
from masstimes.small_web.places import KEY, Places
from masstimes.small_web.web import DEMO_SEED, LAYOUTS, SmallWeb, parish_files
from sluice.network.http_clients import send_request
from sluice.packs.programs import (
    Parser,
    UsageError,
    not_negative,
    positive,
    read_input,
    run_command,
    write_complete,
)
from sluice.text.os_errors import reason_of

#: The file in the folder with the port and the addresses of the services.
WEB = "web.json"


def write_folder(web: SmallWeb, folder: Path, port: int) -> None:
    """Write parish files, the truth and the file ``WEB``.

    ``WEB`` comes last, so that readers can start when it exists.
    """
    parishes = folder / "parishes"
    parishes.mkdir(parents=True, exist_ok=True)
    for name, content in parish_files(web.parishes, port).items():
        _write(parishes / name, content)
    write_truth(web, folder, port)
    _write(
        folder / WEB,
        {
            "port": port,
            "dioceses": sorted({first_page(each.diocese, port) for each in web.parishes}),
            "places": f"http://{SERVICE}:{port}/places",
            "places_key": KEY,
            "change": f"http://{SERVICE}:{port}/change",
        },
    )


def write_truth(web: SmallWeb, folder: Path, port: int) -> None:
    """Write the truth about the mass times."""
    _write(folder / "truth.json", web.truth(port))


def _write(path: Path, content: Any) -> None:
    write_complete(path, json.dumps(content, ensure_ascii=False, indent=1).encode())


def serve(web: SmallWeb, folder: Path, listener: socket.socket, places: Places) -> None:
    """Serve the web until a signal ends it.

    Requests are logged to ``requests.jsonl`` in ``folder``.
    """
    import uvicorn  # noqa: PLC0415 - the other programs start without it

    from masstimes.small_web.application import Application  # noqa: PLC0415 - as above

    port = listener.getsockname()[1]
    write_folder(web, folder, port)
    print(port, flush=True)
    with (folder / "requests.jsonl").open("a") as file:
        application = Application(
            web,
            places,
            log=partial(_log, file),
            on_change=partial(write_truth, web, folder, port),
        )
        config = uvicorn.Config(
            application,
            log_level="error",
            access_log=False,
            lifespan="off",
            backlog=4096,
            timeout_graceful_shutdown=1,
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


def _log(file: TextIO, line: dict[str, Any]) -> None:
    file.write(json.dumps(line, ensure_ascii=False) + "\n")
    file.flush()


def listen(port: int) -> socket.socket:
    """Listen on all addresses of this machine, because each site has its own.

    The application refuses requests to other addresses than loopback. With ``port`` 0, any free
    port is used.

    Raises:
        UsageError: The port is not available.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("0.0.0.0", port))  # noqa: S104 - see above
    except OSError as error:
        raise UsageError(f"port {port} is not available ({reason_of(error)})") from error
    listener.listen(4096)
    return listener


def _serve(arguments: argparse.Namespace) -> None:
    web = SmallWeb(
        arguments.sites, arguments.seed, kind=arguments.layouts, traps=not arguments.no_traps
    )
    if arguments.changed:
        web.change(arguments.changed)
    listener = listen(arguments.port)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    places = Places(
        web.parishes,
        listener.getsockname()[1],
        seed=arguments.seed,
        quota=arguments.quota,
        day=arguments.day,
        clock=time.time,
    )
    serve(web, arguments.folder, listener, places)


def web_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-web` and return its exit code."""
    parser = Parser(
        prog="mt-web", description="Serve a small web of generated parish sites on this machine."
    )
    add = parser.add_argument
    add(
        "--sites",
        type=positive,
        default=60,
        metavar="N",
        help="Number of parish sites (default: %(default)s)",
    )
    add(
        "--seed",
        type=not_negative,
        default=DEMO_SEED,
        help="Seed of the generated sites; equal seeds give equal sites (default: %(default)s)",
    )
    add(
        "--layouts",
        choices=sorted(LAYOUTS),
        default="",
        help="Page layouts to use; `unseen` layouts are reserved for measurements (default: seen"
        f" for the seed {DEMO_SEED}, all for other seeds)",
    )
    add(
        "--no-traps",
        action="store_true",
        help="Make every site alive and finite, without traps for crawlers",
    )
    add(
        "--changed",
        type=not_negative,
        default=0,
        metavar="SITES",
        help="Number of sites to change at the start, as mt-web-change does (default: 0)",
    )
    add(
        "--folder",
        type=Path,
        required=True,
        help=f"Output folder for {WEB}, parish files, the true mass times and the log of requests",
    )
    _add_server_options(add)
    return run_command(parser, _serve, argv)


def _add_server_options(add: Any) -> None:
    """Add the options of the server and of the places API."""
    add(
        "--port",
        type=not_negative,
        default=0,
        help="Port to listen on; 0 means any free port, which is printed (default: 0)",
    )
    add(
        "--quota",
        type=not_negative,
        default=1000,
        metavar="UNITS",
        help="Units that the places API grants per day (default: %(default)s)",
    )
    add(
        "--day",
        type=positive,
        default=86400,
        metavar="SECONDS",
        help="Length of a day of --quota in seconds (default: %(default)s)",
    )


def change_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-web-change` and return its exit code."""
    parser = Parser(
        prog="mt-web-change", description="Change sites of the small web that mt-web serves."
    )
    parser.add_argument(
        "--sites",
        type=positive,
        default=10,
        metavar="N",
        help="Number of sites to change (default: %(default)s)",
    )
    parser.add_argument(
        "--folder", type=Path, required=True, help="Folder that was given to mt-web as --folder"
    )
    return run_command(parser, _change, argv)


def _change(arguments: argparse.Namespace) -> None:
    description = json.loads(read_input(arguments.folder / WEB))
    try:
        answer = send_request(
            "POST", f"{description['change']}?sites={arguments.sites}", timeout=30
        )
        print("\n".join(answer.raise_for_status().json()))
    except httpx.HTTPError as error:
        raise OSError(f"the small web does not answer: {reason_of(error)}") from error
