"""DockerRequirement: the supported fields, and the images that a step's jobs need."""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.common.base import ImageName
from sluice.contracts.jobs.needs import ContainerImage
from sluice.cwl.features import CONTAINERS, refused_features
from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.text.visible_text import quoted

#: Fields that describe how to build or load an image. Every node would need files or rights for
#: this that it may not have.
_UNSUPPORTED_FIELDS = refused_features(CONTAINERS)

_IMAGE_NAME: TypeAdapter[str] = TypeAdapter(ImageName)


def container_image(
    body: CommentedMap, place: TextPlace, findings: Findings, *, step: str, required: bool
) -> ContainerImage | None:
    """Return the image that a DockerRequirement names, or None if it cannot be used.

    An unusable image is an error for a requirement and a warning for a hint.
    """
    report = findings.error if required else findings.warning
    for key in _UNSUPPORTED_FIELDS:
        if key in body:
            report(
                text_place(body, key),
                f"{quoted(key)} of step {quoted(step)} is not supported: {CONTAINERS[key].note}",
            )
            return None
    output_directory = body.get("dockerOutputDirectory")
    if output_directory is not None and not str(output_directory).startswith("/"):
        findings.error(
            text_place(body, "dockerOutputDirectory"),
            f"'dockerOutputDirectory' is an absolute path, not {quoted(output_directory)}",
        )
    image_names = {
        key: _read_image_name(body, key, findings)
        for key in ("dockerPull", "dockerImageId")
        if body.get(key) is not None
    }
    if not image_names:
        report(place, f"the container of step {quoted(step)} names no image: write 'dockerPull'")
        return None
    pull = image_names.get("dockerPull")
    name = image_names.get("dockerImageId", pull)
    return None if name is None else ContainerImage(name=name, pull=pull)


def _read_image_name(body: CommentedMap, key: str, findings: Findings) -> str | None:
    value: Any = body[key]
    try:
        return _IMAGE_NAME.validate_python(value)
    except ValidationError:
        findings.error(
            text_place(body, key),
            f"{quoted(key)} is not an image name: {quoted(value)}; one is 'debian:12'",
        )
        return None
