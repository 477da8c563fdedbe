"""The size on disk that a file counts at least."""

#: Bytes that each file counts at least. This limits the number of empty files too.
MIN_FILE_BYTES = 4096
