"""FP8 recipes: none is used."""


class DelayedScaling:
    """A base class of Megatron's TEDelayedScaling."""
