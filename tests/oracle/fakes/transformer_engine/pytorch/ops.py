"""Only what Megatron-Core names in annotations: no layer is made of operations here."""


class FusibleOperation:
    """A class without instances."""


class Sequential(FusibleOperation):
    """A class without instances."""
