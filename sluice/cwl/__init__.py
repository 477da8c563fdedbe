"""The template compiler: CWL text in, a `Plan` or every reason against it out."""

from sluice.cwl.compiler import Compiled, compile_file, compile_template
from sluice.cwl.pack import PackError, pack_template

__all__ = ["Compiled", "PackError", "compile_file", "compile_template", "pack_template"]
