"""The line of metrics that a step prints."""

from __future__ import annotations

from collections.abc import Mapping


def line(
    step: int, samples: int, layout: str, step_ms: float, values: Mapping[str, float]
) -> str:
    """``step 120 loss 2.345678 samples 2880 world dp2,tp1,pp1 ms 95``."""
    loss = f" loss {values['loss']:.6f}" if "loss" in values else ""
    rest = "".join(f" {k} {v:.4g}" for k, v in values.items() if k != "loss")
    return f"step {step}{loss} samples {samples} world {layout} ms {step_ms:.0f}{rest}"
