"""Expected errors as messages for people."""

from collections.abc import Callable
from typing import TypeVar

import typer
from pydantic import ValidationError

from sluice.clientkit.output import err, print_problem
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.wording import names_value, validation_sentence
from sluice.cwl_values import BundleError
from sluice.storage import StorageError
from sluice.text.os_errors import os_error_sentence
from sluice.text.visible_text import quoted

Result = TypeVar("Result")


def plain_errors(call: Callable[[], Result]) -> Result:
    """Call a function, and turn expected errors into messages without a traceback.

    Raises:
        typer.Exit: An expected error occurred (status 1), or the user pressed Ctrl-C (status 130).
    """
    try:
        return call()
    except ServiceError as error:
        print_problem(error)
    except KeyboardInterrupt:
        err.print("interrupted")
        raise typer.Exit(130) from None
    except ValidationError as error:
        for fault in error.errors():
            value = "" if names_value(fault) else f", not {quoted(fault['input'])}"
            place = ".".join(map(str, fault["loc"]))
            err.print(f"error: {place}: {validation_sentence(fault)}{value}")
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
    except (StorageError, BundleError) as error:
        err.print(f"error: {error}")
    raise typer.Exit(1) from None
