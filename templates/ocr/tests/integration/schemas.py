"""The published schemas, as `scripts/install-schemas.sh` installs them."""

from lxml import etree

from tests.architecture.sources import ROOT

FOLDER = ROOT / "var" / "schemas" / "ocrd-3.13.3" / "ocrd_validators"


class _FromFolder(etree.Resolver):  # type: ignore[misc]
    """Read referenced schemas from the folder, so that tests do not request them."""

    def resolve(self, url: str, _public: str | None, context: object) -> object:
        return self.resolve_filename(str(FOLDER / url.rpartition("/")[2]), context)


def load_schema(name: str) -> etree.XMLSchema:
    """Return the schema `page` or `mets`."""
    assert (FOLDER / f"{name}.xsd").exists(), (
        "make test-long installs it: scripts/install-schemas.sh"
    )
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(_FromFolder())
    return etree.XMLSchema(etree.parse(FOLDER / f"{name}.xsd", parser))
