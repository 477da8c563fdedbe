"""Features that a tool on a warm worker cannot have (``sluice:warm``).

It would have to exist before the tool starts and depends on the job. Each text is the end of a
sentence about the tool.
"""

#: For each requirement or hint that a warm worker cannot meet, the reason.
UNSUPPORTED_REQUIREMENTS = {
    "ShellCommandRequirement": (
        "is run by a shell, whose command line is made for each job: let its program be started"
        " directly, without ShellCommandRequirement"
    ),
    "InplaceUpdateRequirement": (
        "changes its inputs where they are (InplaceUpdateRequirement): let it write what it changes"
        " to its own folder"
    ),
    "DockerRequirement": (
        "runs in a container, which is started for each job (DockerRequirement): let nodes have the"
        " program, or leave sluice:warm out"
    ),
}
NO_COMMAND = (
    "it has no baseCommand: that is what it is started with, and everything else comes with each"
    " job"
)
STDIN = "its standard input brings the requests: give it the file as an argument instead of stdin"
ENVIRONMENT = (
    "its environment depends on the job (EnvVarRequirement): give it the value as an argument"
)


def is_expression(value: object) -> bool:
    """Return whether a value is an expression, which has a value only in a job."""
    return isinstance(value, str) and ("$(" in value or "${" in value)
