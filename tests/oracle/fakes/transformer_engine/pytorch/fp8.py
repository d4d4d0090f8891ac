"""Only what Megatron-Core names when it is imported: nothing here is in FP8."""


class FP8GlobalStateManager:
    """Says that FP8 is off."""

    @staticmethod
    def is_fp8_enabled() -> bool:
        return False


def fp8_autocast(*_: object, **__: object) -> None:
    raise NotImplementedError("there is no FP8 on a CPU")
