"""What the operator service refuses, one class per fact.

ServiceError
├── NotFound ─ TemplateUnknown, LogUnknown
├── Conflict ─ TemplateInUse, DatasetUnusable
├── Unprocessable ─ TemplateRefused, RequestRefused
├── TooLarge        413
└── ForeignRequest  403
"""

from sluice.contracts.problems import Conflict, Finding, NotFound, ServiceError, Unprocessable


class TemplateUnknown(NotFound):
    """``version`` None: there is no version at all."""

    def __init__(self, name: str, version: int | None = None) -> None:
        which = f"template {name!r}" if version is None else f"version {version} of template {name!r}"
        super().__init__(f"there is no {which}", name=name)


class TemplateInUse(Conflict):
    """Chains of the template still run; deleting it needs ``force``."""

    def __init__(self, name: str, chains: int) -> None:
        runs = "1 chain of template {!r} still runs" if chains == 1 else f"{chains} chains of template {{!r}} still run"
        super().__init__(
            f"{runs.format(name)}; wait, cancel, or delete it by force (chains that run go on)",
            name=name,
            chains=chains,
        )


class TemplateRefused(Unprocessable):
    """``findings``: every reason, with its place in the text."""

    def __init__(self, name: str, findings: list[Finding]) -> None:
        errors = sum(finding.severity == "error" for finding in findings)
        super().__init__(
            f"template {name!r} was not stored: {errors} {'error' if errors == 1 else 'errors'} in its text",
            findings=findings,
            name=name,
        )


class RequestRefused(Unprocessable):
    """The request has not the right form: ``findings`` say what is wrong with which field."""

    slug, title = "invalid-request", "The request does not have the right form"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings), findings=findings)


class DatasetUnusable(Conflict):
    def __init__(self, name: str, state: str) -> None:
        super().__init__(f"data set {name!r} is {state}: it cannot be worked with", dataset=name, state=state)


class LogUnknown(NotFound):
    """No attempt at the job has left a log that can still be read."""

    def __init__(self, job: int, reason: str) -> None:
        super().__init__(f"there is no log of job {job}: {reason}", job=job)


class TooLarge(ServiceError):
    status, slug, title = 413, "too-large", "Larger than allowed"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the request is larger than {limit / 1024 / 1024:g} MiB, the most that is taken", limit=limit)


class ForeignRequest(ServiceError):
    """A request that changes something, sent by a page that is not ours, or by one of ours that is too old."""

    status, slug, title = 403, "foreign-request", "Not sent from a page of this service"
