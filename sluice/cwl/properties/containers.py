"""DockerRequirement: the supported fields, and the images that a step's jobs need."""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.common.base import ImageName
from sluice.contracts.jobs.needs import ContainerImage
from sluice.cwl.features import CONTAINERS, refused_features
from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.text.visible_text import quoted

#: Ways to an image that are refused. Every node would have to go them, with files or rights that it
#: may not have.
_NOT_CARRIED_OUT = refused_features(CONTAINERS)

_image_name: TypeAdapter[str] = TypeAdapter(ImageName)


def container_image(
    body: CommentedMap, place: TextPlace, findings: Findings, *, step: str, required: bool
) -> ContainerImage | None:
    """Return the image that a DockerRequirement names, or None if it cannot be used.

    An unusable image is an error for a requirement and a warning for a hint.
    """
    tell = findings.error if required else findings.warning
    for key in _NOT_CARRIED_OUT:
        if key in body:
            tell(
                text_place(body, key),
                f"{quoted(key)} of step {quoted(step)} is not supported: {CONTAINERS[key].note}",
            )
            return None
    outdir = body.get("dockerOutputDirectory")
    if outdir is not None and not str(outdir).startswith("/"):
        findings.error(
            text_place(body, "dockerOutputDirectory"),
            f"'dockerOutputDirectory' is an absolute path, not {quoted(outdir)}",
        )
    named = {
        key: _name(body, key, findings)
        for key in ("dockerPull", "dockerImageId")
        if body.get(key) is not None
    }
    if not named:
        tell(place, f"the container of step {quoted(step)} names no image: write 'dockerPull'")
        return None
    pull = named.get("dockerPull")
    name = named.get("dockerImageId", pull)
    return None if name is None else ContainerImage(name=name, pull=pull)


def _name(body: CommentedMap, key: str, findings: Findings) -> str | None:
    written: Any = body[key]
    try:
        return _image_name.validate_python(written)
    except ValidationError:
        findings.error(
            text_place(body, key),
            f"{quoted(key)} is no name of an image: {quoted(written)}; one is 'debian:12'",
        )
        return None
