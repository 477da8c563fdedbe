"""DockerRequirement: what of it can be carried out, and the images that a step's jobs need."""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.base import ImageName
from sluice.contracts.needs import ContainerImage
from sluice.cwl.features import CONTAINERS, refused_features
from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.visible_text import quoted

#: Ways to an image that pilots do not go: many nodes would each do it, with files or rights that
#: they may not have.
_NOT_CARRIED_OUT = refused_features(CONTAINERS)

_image_name: TypeAdapter[str] = TypeAdapter(ImageName)


def container_image(
    body: CommentedMap, place: TextPlace, findings: Findings, *, step: str, required: bool
) -> ContainerImage | None:
    """The image that a DockerRequirement names; None where it cannot be used: for a requirement
    that is an error, for a hint a warning."""
    tell = findings.error if required else findings.warning
    for key in _NOT_CARRIED_OUT:
        if key in body:
            tell(
                text_place(body, key),
                f"'{key}' of step '{step}' is not supported: {CONTAINERS[key].note}",
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
        tell(place, f"the container of step '{step}' names no image: write 'dockerPull'")
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
            f"'{key}' is no name of an image: {quoted(written)}; one is 'debian:12'",
        )
        return None
