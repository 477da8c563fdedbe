"""The data that a template deletes, in words."""

from sluice.contracts.templates.plan import Retention


def deletion_text(retention: Retention) -> str:
    """Return a sentence that says what is deleted when a chain of the template has finished."""
    if retention.input == "keep":
        data = "the input stays"
    elif retention.only_copies:
        data = "so is the input, even if it is the only copy"
    else:
        data = (
            "so is the input if it is a copy (`sluice run`, `sluice dataset register`); an input"
            " that was registered without a copy stays"
        )
    logs = (
        "; logs of steps without failed jobs are deleted, too, but not of the steps that write the"
        " output"
        if retention.logs == "delete"
        else "; logs stay"
    )
    return f"intermediate data are deleted when a chain has finished; {data}{logs}"
