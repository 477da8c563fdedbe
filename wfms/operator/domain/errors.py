"""The errors of the operator service, one class per fact; about people see ``people_errors``."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sluice.contracts.chains import Chain
from sluice.contracts.problems import (
    Conflict,
    Finding,
    NeedsForce,
    NotAvailable,
    NotFound,
    ServiceError,
    Unprocessable,
)
from sluice.contracts.secrets import SecretRef
from sluice.visible_text import quoted

#: Running chains that a message lists; the rest is only counted.
MOST_NAMED = 20


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
        super().__init__(f"no run has brought a template {template_id}", id=template_id)


class StepUnknown(NotFound):
    """The step does not exist; ``steps`` are the existing names."""

    def __init__(self, step: str, template: str | None, steps: Sequence[str]) -> None:
        where = "any template" if template is None else f"template {quoted(template)}"
        others = ", ".join(steps[:MOST_NAMED]) + (", …" if len(steps) > MOST_NAMED else "")
        known = f"; steps are: {others}" if steps else ""
        super().__init__(f"there is no step {quoted(step)} in {where}{known}", step=step)


class TemplateInUse(NeedsForce):
    """The template has running chains, which the findings name."""

    def __init__(self, name: str, chains: Sequence[Chain]) -> None:
        count = f"{len(chains)} chains of template {quoted(name)} still run"
        super().__init__(
            f"{count if len(chains) != 1 else f'1 chain of template {quoted(name)} still runs'}:"
            " wait or cancel",
            forced="deletes it all the same (chains that run go on)",
            findings=[
                Finding(
                    message=(
                        f"chain {chain.uid} of data set {chain.dataset_name}, version"
                        f" {chain.template_version}: {chain.state}"
                    )
                )
                for chain in chains[:MOST_NAMED]
            ],
            name=name,
            chains=len(chains),
        )
        self.chains = chains


class NotDue(NotFound):
    """The template has no trigger."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} has no schedule, and takes nothing by growth: it takes data"
            " sets as they close, or is asked for",
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


class OvertakenVersion(Conflict):
    """The template has another latest version than the expected one (``version`` 0: none)."""

    def __init__(self, name: str, version: int) -> None:
        now = (
            f"the latest version is {version} now"
            if version
            else "there is no version of it any more"
        )
        super().__init__(
            f"template {quoted(name)} was changed meanwhile ({now}): look again at what would"
            " change",
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


class RequestRefused(Unprocessable):
    """The request is not valid; the findings name the fields."""

    slug, title = "invalid-request", "The request does not have the right form"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings), findings=findings)


class DatasetRequired(Unprocessable):
    """The template needs a data set for the input ``data_input``."""

    def __init__(self, template: str, data_input: str) -> None:
        super().__init__(
            f"template {quoted(template)} needs a data set for its input {quoted(data_input)}:"
            " name one (dataset_uid)",
            name=template,
        )


class AddressRefused(Unprocessable):
    """A query parameter in the URL of a page is not valid."""

    slug, title = "invalid-request", "Nothing is shown at this address"

    def __init__(self, key: str, named: str, expected: str) -> None:
        super().__init__(
            f"{key} is {expected}, or left out of the address; not {quoted(named)}",
            key=key,
            named=named,
        )


class DatasetUnusable(Conflict):
    """The data set cannot be used in its state."""

    def __init__(self, name: str, state: str) -> None:
        super().__init__(
            f"data set {quoted(name)} is {state}: it cannot be worked with",
            dataset=name,
            state=state,
        )


class NoOutputs(Conflict):
    """The chain has no outputs to download."""

    def __init__(self, chain: Chain) -> None:
        why = (
            "its outputs are complete when it has finished"
            if not chain.state.final
            else "it has no outputs"
        )
        super().__init__(
            f"the chain over {chain.dataset_name} is {chain.state}: {why}",
            chain=chain.uid,
            state=chain.state,
        )


class StillRuns(Conflict):
    """The chain has not ended, so its partial outputs are not available yet."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"the chain over {chain.dataset_name} is {chain.state}: what there is of it can be had"
            " when it is over",
            chain=chain.uid,
            state=chain.state,
        )


class NoPartialOutputs(Conflict):
    """No output of the chain can be read any more."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"nothing is left of the chain over {chain.dataset_name}, which is {chain.state}: all"
            " that it wrote has been deleted",
            chain=chain.uid,
            state=chain.state,
        )


class LogUnknown(NotFound):
    """The job has no log that can be read."""

    def __init__(self, job: int, reason: str) -> None:
        super().__init__(f"there is no log of job {job}: {reason}", job=job)


class UnknownMedia(ServiceError):
    """The media type is not supported; ``what`` names the supported ones."""

    status, slug, title = 415, "unknown-media", "Not a form that is read here"

    def __init__(self, what: str) -> None:
        super().__init__(f"send {what}")


class TooLarge(ServiceError):
    """The request is too large."""

    status, slug, title = 413, "too-large", "Larger than allowed"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the request is larger than {limit / 1024 / 1024:g} MiB, the most that is taken",
            limit=limit,
        )


class ForeignRequest(ServiceError):
    """A request for a change that a foreign or outdated page sent."""

    status, slug, title = 403, "foreign-request", "Not sent from a page of this service"


class SecretUnknown(NotFound):
    """The secret, or the version if one is given, does not exist."""

    def __init__(self, name: str, version: int | None = None) -> None:
        subject = (
            f"secret {quoted(name)}"
            if version is None
            else f"version {version} of secret {quoted(name)}"
        )
        super().__init__(f"there is no {subject} (`sluice secret list` has them all)", name=name)


class SecretWithoutUsers(Unprocessable):
    """A new secret has no templates that may use it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"secret {quoted(name)} is new: say which templates may use it, by their names or"
            " patterns of these (--for 'places*'; `templates` in REST)",
            name=name,
        )


class SecretRefused(Conflict):
    """The template of a job may not use the secret, or the secret was removed."""

    def __init__(self, ref: SecretRef, why: str) -> None:
        super().__init__(f"{ref} {why}", name=ref.name)


class AssetUnknown(NotFound):
    """The asset, or the version if one is given, does not exist or was removed (``gone``)."""

    def __init__(self, name: str, version: int | None = None, *, gone: bool = False) -> None:
        subject = (
            f"asset {quoted(name)}"
            if version is None
            else f"version {version} of asset {quoted(name)}"
        )
        why = f"{subject} was taken back already" if gone else f"there is no {subject}"
        command = "list" if version is None and not gone else f"show {name}"
        super().__init__(f"{why} (`sluice asset {command}` has them all)", name=name)


class AssetDraftUnknown(NotFound):
    """The draft of an asset version, or the file in it, does not exist."""

    def __init__(self, name: str, draft: UUID) -> None:
        super().__init__(
            f"nobody sends a version of asset {quoted(name)} as {draft}, with such a file: begin"
            " anew",
            name=name,
        )


class AssetFilesMissing(Conflict):
    """The draft of an asset version is not complete."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        super().__init__(
            f"of the version of asset {quoted(name)}, {len(paths)} files have not been sent:"
            f" {', '.join(paths[:MOST_NAMED])}",
            findings=[Finding(message=f"{path} is missing") for path in paths[:MOST_NAMED]],
            name=name,
        )


class AssetMoved(Conflict):
    """Another request changes the same asset at this moment."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a version of asset {quoted(name)} with these files is being taken back at this"
            " moment: put it again",
            name=name,
        )


class NoStorageForAssets(NotAvailable):
    """No storage accepts assets; ``named`` is the configured one, or empty for any."""

    def __init__(self, named: str) -> None:
        super().__init__(
            f"input storage {quoted(named)}, which SLUICE_OPERATOR_ASSET_STORAGE names, takes no"
            " data"
            if named
            else "there is no input storage that takes data, where assets could lie: register one"
            " with `sluice storage add`"
        )


class NoRoomForAsset(NotAvailable):
    """No input storage has enough free space."""

    def __init__(self, size: int, storages: Sequence[str]) -> None:
        super().__init__(
            f"no input storage has room for {size} bytes: {', '.join(storages)}", size=size
        )


class ToolUnknown(NotFound):
    """The tool does not exist; ``fitting`` are other tools that would fit in its place."""

    def __init__(
        self,
        name: str,
        version: int | None = None,
        *,
        known: Sequence[int] = (),
        fitting: Sequence[str] = (),
    ) -> None:
        if known:
            listed = ", ".join(str(each) for each in known)
            sentence = f"there is no version {version} of tool {quoted(name)}, but {listed}"
        else:
            sentence = f"there is no tool {quoted(name)} (`sluice tool list` has them all)"
        if fitting:
            sentence += f"; there fit {', '.join(fitting)}"
        super().__init__(sentence, name=name, fitting=list(fitting))


class ToolRefused(Unprocessable):
    """The tool has errors."""

    def __init__(self, name: str, findings: Sequence[Finding]) -> None:
        super().__init__(
            f"tool {quoted(name)} cannot be taken into the library",
            findings=list(findings),
            name=name,
        )


class ToolsDoNotFit(Unprocessable):
    """The tools cannot be joined to a workflow."""

    def __init__(self, name: str, reasons: Sequence[str]) -> None:
        super().__init__(
            f"{quoted(name)} cannot be made of these tools: {'; '.join(reasons)}",
            findings=[Finding(message=reason) for reason in reasons],
            name=name,
        )
