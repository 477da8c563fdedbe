"""Links among the outputs of a tool that lead out of its job."""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from pilot.runner.failures import AttemptError
from sluice.contracts.states import ErrorClass


def refuse_leaks(value: Any, outdir: str) -> None:
    """Raises ``AttemptError`` where a file in ``outdir`` is a link to what lies outside of the job's folder.

    Links that the pilot made itself, to inputs elsewhere, lie beside ``outdir`` and are followed.
    """
    job = os.path.dirname(outdir)
    for path in _paths(value):
        for link in _links(path):
            place, hops = link, 0
            while os.path.islink(place) and place.startswith(f"{outdir}/") and hops < 40:
                place, hops = os.path.normpath(os.path.join(os.path.dirname(place), os.readlink(place))), hops + 1
            if not place.startswith(f"{job}/"):
                sentence = f"output {os.path.relpath(link, outdir)!r} is a link to {place!r}, which is not the job's"
                raise AttemptError(ErrorClass.TOOL_FAILED, sentence)


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("class") in ("File", "Directory") and str(value.get("location", "")).startswith("file://"):
            yield unquote(urlsplit(value["location"]).path)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _paths(one)


def _links(path: str) -> Iterator[str]:
    """The path itself, and all links below it."""
    yield path
    if os.path.isdir(path) and not os.path.islink(path):
        for folder, folders, files in os.walk(path):
            yield from (f"{folder}/{name}" for name in (*folders, *files) if os.path.islink(f"{folder}/{name}"))
