"""Imported by the server of processes: DeepSpeed's import costs more than a job."""

from __future__ import annotations

import importlib
import os

os.environ["DS_ACCELERATOR"] = "cpu"
importlib.import_module("deepspeed")
importlib.import_module("deepspeed.runtime.zero.stage3")
importlib.import_module("deepspeed.runtime.zero.stage_1_and_2")
