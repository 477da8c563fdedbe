"""The template compiler, which turns CWL text into a `Plan` or into a list of errors."""

from sluice.cwl.compiler import (
    Compiled,
    CompiledUpload,
    compile_file,
    compile_template,
    compile_upload,
)
from sluice.cwl.documents.packing import PackError, gather_files, pack_template
from sluice.cwl.reading.uploads import Upload, UploadRefused, is_zip, take_files, unpack_zip

__all__ = [
    "Compiled",
    "CompiledUpload",
    "PackError",
    "Upload",
    "UploadRefused",
    "compile_file",
    "compile_template",
    "compile_upload",
    "gather_files",
    "is_zip",
    "pack_template",
    "take_files",
    "unpack_zip",
]
