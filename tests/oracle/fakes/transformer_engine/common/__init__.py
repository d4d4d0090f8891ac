"""Only the recipes that Megatron-Core names when it is imported."""

from . import recipe

__all__ = ["recipe"]
