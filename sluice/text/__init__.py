"""Text for people: reasons of errors, and display of foreign text."""
