"""The page for annotators and the REST interface of the service for human tasks."""
