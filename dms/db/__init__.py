"""Statements on the catalogue's tables, and thin typed functions around them."""
