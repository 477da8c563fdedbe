"""Errors of templates and tools."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import (
    Conflict,
    Finding,
    ForceRequired,
    NotFound,
    Unprocessable,
)
from sluice.text.visible_text import quoted
from wfms.operator.errors import MAX_NAMED


class TemplateUnknown(NotFound):
    """The template, or the version if one is given, does not exist."""

    def __init__(self, name: str, version: int | None = None) -> None:
        subject = (
            f"template {quoted(name)}"
            if version is None
            else f"version {version} of template {quoted(name)}"
        )
        super().__init__(f"there is no {subject}", name=name)


class RunTemplateUnknown(NotFound):
    """No one-off run has a template with this id."""

    def __init__(self, template_id: UUID) -> None:
        super().__init__(f"no run has submitted a template {template_id}", id=template_id)


class TemplateInUse(ForceRequired):
    """The template has running chains, which the findings name."""

    def __init__(self, name: str, chains: Sequence[Chain]) -> None:
        count = f"{len(chains)} chains of template {quoted(name)} still run"
        super().__init__(
            f"{count if len(chains) != 1 else f'1 chain of template {quoted(name)} still runs'}:"
            " wait or cancel",
            forced="deletes it anyway (running chains continue)",
            findings=[
                Finding(
                    message=(
                        f"chain {chain.uid} of data set {chain.dataset_name}, version"
                        f" {chain.template_version}: {chain.state}"
                    )
                )
                for chain in chains[:MAX_NAMED]
            ],
            name=name,
            chains=len(chains),
        )
        self.chains = chains


class NoTrigger(NotFound):
    """The template has no trigger."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} has no trigger: it runs when matching data sets close, or on"
            " request",
            name=name,
        )


class TemplateDisabled(Conflict):
    """The template is disabled."""

    def __init__(self, name: str, since: datetime) -> None:
        super().__init__(f"template {quoted(name)} {disabled_text(name, since)}", name=name)


def disabled_text(name: str, since: datetime) -> str:
    """Return the part of a sentence that says since when a template is disabled."""
    return (
        f"is disabled since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC (`sluice template enable"
        f" {name}`, or its page, enables it)"
    )


class TemplateVersionConflict(Conflict):
    """The template has another latest version than the expected one (``version`` 0: none)."""

    def __init__(self, name: str, version: int) -> None:
        now = (
            f"the latest version is {version} now" if version else "all of its versions are deleted"
        )
        super().__init__(
            f"template {quoted(name)} was changed meanwhile ({now}): check again what would change",
            name=name,
            version=version,
        )


class TemplateRefused(Unprocessable):
    """The template has errors; ``texts`` are the sent files, ``main`` the path of the workflow."""

    def __init__(
        self, name: str, findings: list[Finding], *, texts: Mapping[str, str], main: str | None
    ) -> None:
        errors = sum(finding.severity == "error" for finding in findings)
        where = "text" if len(texts) == 1 else "files"
        super().__init__(
            f"template {quoted(name)} was not stored: {errors}"
            f" {'error' if errors == 1 else 'errors'} in"
            f" its {where}",
            findings=findings,
            name=name,
        )
        self.texts, self.main = texts, main


class ToolUnknown(NotFound):
    """The tool does not exist; ``fitting`` are other tools that would fit in its place."""

    def __init__(
        self,
        name: str,
        version: int | None = None,
        *,
        versions: Sequence[int] = (),
        fitting: Sequence[str] = (),
    ) -> None:
        if versions:
            version_list = ", ".join(str(each) for each in versions)
            sentence = (
                f"there is no version {version} of tool {quoted(name)}; its versions are"
                f" {version_list}"
            )
        else:
            sentence = f"there is no tool {quoted(name)} (`sluice tool list` lists them)"
        if fitting:
            sentence += f"; these tools would fit: {', '.join(fitting)}"
        super().__init__(sentence, name=name, fitting=list(fitting))


class ToolRefused(Unprocessable):
    """The tool has errors."""

    def __init__(self, name: str, findings: Sequence[Finding]) -> None:
        super().__init__(
            f"tool {quoted(name)} cannot be added to the library",
            findings=list(findings),
            name=name,
        )


class IncompatibleTools(Unprocessable):
    """The tools cannot be joined to a workflow."""

    def __init__(self, name: str, reasons: Sequence[str]) -> None:
        super().__init__(
            f"{quoted(name)} cannot be made of these tools: {'; '.join(reasons)}",
            findings=[Finding(message=reason) for reason in reasons],
            name=name,
        )
