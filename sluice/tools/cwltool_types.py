"""Settings of cwltool as a library."""

from cwltool import process

_VERSION = "v1.2"


def use_newest_types() -> None:
    """Take the types that every tool needs from the schema of CWL v1.2.

    cwltool would read all of CWL v1.0 for the same types, which takes a third of a second.
    """
    types = process.get_schema(_VERSION)[3].idx
    process.SCHEMA_ANY = types["https://w3id.org/cwl/salad#Any"]
    process.SCHEMA_FILE = types["https://w3id.org/cwl/cwl#File"]
    process.SCHEMA_DIR = types["https://w3id.org/cwl/cwl#Directory"]
