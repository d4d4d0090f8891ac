"""Stands in for Transformer Engine: what its modules register, and no kernel. See ../README.md."""

from . import common, pytorch

__all__ = ["common", "pytorch"]
__version__ = "2.9.0"
