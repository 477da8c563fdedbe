"""Use of cwltool as a library: loading of documents, file access and messages."""
