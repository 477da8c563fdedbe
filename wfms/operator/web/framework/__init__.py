"""The common parts of all pages: routes, forms, navigation and rendering."""
