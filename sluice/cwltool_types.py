"""What Sluice tells cwltool wherever it uses it as a library."""

from cwltool import process

_VERSION = "v1.2"


def take_types_from_the_newest() -> None:
    """Types that every tool needs are taken from the schema that is read in any case. cwltool would
    read all of CWL v1.0 for them, a third of a second, where they are the same."""
    types = process.get_schema(_VERSION)[3].idx
    process.SCHEMA_ANY = types["https://w3id.org/cwl/salad#Any"]
    process.SCHEMA_FILE = types["https://w3id.org/cwl/cwl#File"]
    process.SCHEMA_DIR = types["https://w3id.org/cwl/cwl#Directory"]
