"""Only what Megatron-Core names when it is imported: no tensor here is quantized."""

from torch import Tensor


class QuantizedTensor(Tensor):
    """A class without instances."""
