"""Kernels that Megatron-Core names when it is imported."""


def mamba_chunk_scan_combined(*_: object, **__: object) -> None:
    raise NotImplementedError("a stand-in: there is no kernel")


def mamba_split_conv1d_scan_combined(*_: object, **__: object) -> None:
    raise NotImplementedError("a stand-in: there is no kernel")
