"""The template compiler: CWL text in, a `Plan` or every reason against it out."""

from sluice.cwl.compiler import Compiled, compile_template

__all__ = ["Compiled", "compile_template"]
