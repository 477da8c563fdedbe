"""Database access of the WMS: SQL statements and their result types."""
