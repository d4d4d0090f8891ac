"""What can go wrong, by what the reader can do about it."""

from __future__ import annotations


class DynatrainError(Exception):
    """Base of all errors of this package."""


class Refused(DynatrainError):
    """Something can't be done, said before anything was changed.

    The message names the tensor, object or number and what would be right.
    """


class StaleWorld(DynatrainError):
    """An object of a generation that is over was used.

    Take model, optimizer, mesh and groups from the ``world`` that is handed
    to ``step``; don't keep them in globals.
    """


class EngineError(DynatrainError):
    """The runtime library failed; ``code`` is one of its DT_* codes."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class AgentLost(EngineError):
    """The agent of this pod is gone, and with it the job's control."""


class Cancelled(EngineError):
    """The transition was aborted while this process worked on it."""
