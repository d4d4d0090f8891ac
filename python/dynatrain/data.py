"""The data set, read by a global cursor that no resize can disturb.

The order of the whole job is fixed by the seed: one permutation of the data
set per epoch, one after the other. At a cursor of `c` committed samples the
global batch is the next `global_batch` places of that order, across the end of
an epoch too; each data-parallel coordinate takes its part (as even as can be),
tensor-parallel peers the same part. So each sample is read exactly once per
epoch, whatever worlds come and go.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch.utils.data import default_collate

from dynatrain.layout import share


class Dataset(Protocol):
    """Map-style: an index gives a sample, always the same one."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True)
class Reading:
    """What the data set is read for just now; see `reading`."""

    generation: int
    step: int  # the step that the samples are for, counted from 1
    dp: int  # data-parallel coordinate (rep and dp together)
    tp: int
    warm_up: bool  # for a throw-away batch: trains nothing


_local = threading.local()


def reading() -> Reading | None:
    """Inside ``dataset[index]``: what this read is for, else None.

    >>> class Logged(torch.utils.data.Dataset):     # doctest: +SKIP
    ...     def __getitem__(self, index):
    ...         log.write(f"{dynatrain.reading()} {index}\\n")
    """
    found: Reading | None = getattr(_local, "reading", None)
    return found


@dataclass(frozen=True)
class Data:
    """What a job trains on.

    dataset: map-style. global_batch: samples per step, whatever the world;
    at least the data-parallel size. Ends after `steps` steps or `epochs`
    epochs, whichever is set (one of them, and only one, must be). The last
    step of the job may be smaller; a rest that has not one sample for each
    data-parallel coordinate is left out.
    collate: list of samples → batch; torch's default. prefetch: batches read
    ahead in a thread of their own; they are thrown away at a switch.
    """

    dataset: Dataset
    global_batch: int
    seed: int = 0
    epochs: int | None = None
    steps: int | None = None
    collate: Callable[[list[Any]], Any] = default_collate
    prefetch: int = 0
    # A builder reads its throw-away batch beside the live world, and a data set
    # need not be thread-safe (a file's position).
    _reading: threading.Lock = field(
        default_factory=threading.Lock, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.global_batch < 1:
            raise ValueError(f"global_batch is {self.global_batch}; at least 1")
        if (self.epochs is None) == (self.steps is None):
            raise ValueError("give either epochs or steps: how long the job trains")
        if (self.epochs or self.steps or 0) < 1:
            raise ValueError("epochs and steps are at least 1")
        if len(self.dataset) < 1:
            raise ValueError("the data set is empty")
        if self.prefetch < 0:
            raise ValueError(f"prefetch is {self.prefetch}; at least 0")

    @property
    def samples(self) -> int:
        """Samples of the whole job."""
        if self.steps is not None:
            return self.steps * self.global_batch
        return (self.epochs or 0) * len(self.dataset)

    def order(self, begin: int, end: int) -> list[int]:
        """Indices at places begin..end of the job's order."""
        length, found = len(self.dataset), []
        while begin < end:
            epoch, offset = divmod(begin, length)
            taken = min(end - begin, length - offset)
            found += self._permutation(epoch)[offset : offset + taken]
            begin += taken
        return found

    def _permutation(self, epoch: int) -> list[int]:
        cached = getattr(_local, "permutation", None)
        if cached is None or cached[0] != (id(self), epoch):
            text = hashlib.sha256(f"{self.seed}/{epoch}".encode()).digest()
            generator = torch.Generator()
            generator.manual_seed(int.from_bytes(text[:8], "big") >> 1)
            shuffled = torch.randperm(len(self.dataset), generator=generator)
            cached = ((id(self), epoch), shuffled.tolist())
            _local.permutation = cached
        indices: list[int] = cached[1]
        return indices

    def batch_samples(self, cursor: int, parts: int) -> int:
        """Size of the global batch at `cursor`; 0: the job is done."""
        size = min(self.global_batch, self.samples - cursor)
        return size if size >= parts else 0

    def indices(self, cursor: int, parts: int, part: int) -> list[int]:
        """What the coordinate `part` of `parts` reads at `cursor`."""
        size = self.batch_samples(cursor, parts)
        origin, length = share(size, parts, part)
        return self.order(cursor + origin, cursor + origin + length)

    def read(self, indices: Sequence[int], purpose: Reading) -> Any:
        with self._reading:
            _local.reading = purpose
            try:
                return self.collate([self.dataset[index] for index in indices])
            finally:
                _local.reading = None


@dataclass(frozen=True)
class Batch:
    """One coordinate's part of a global batch."""

    content: Any
    samples: int  # of this coordinate
    global_samples: int


class Reader:
    """Batches for one coordinate of one world, from a cursor on."""

    def __init__(
        self,
        data: Data,
        cursor: int,
        parts: int,
        part: int,
        purpose: Callable[[int], Reading],
    ) -> None:
        if data.global_batch < parts:
            raise ValueError(
                f"a global batch of {data.global_batch} can't feed {parts} "
                "data-parallel coordinates"
            )
        self._data, self._cursor = data, cursor
        self._parts, self._part, self._purpose = parts, part, purpose
        self._stop = threading.Event()

    def batches(self, first_step: int) -> Iterator[Batch]:
        """Batches of first_step, first_step + 1, …"""
        if not self._data.prefetch:
            return self._read(first_step)
        return self._prefetched(first_step)

    def stop(self) -> None:
        """Throws away what was read ahead."""
        self._stop.set()

    def at_end(self, cursor: int) -> bool:
        return self._data.batch_samples(cursor, self._parts) == 0

    def _read(self, step: int) -> Iterator[Batch]:
        cursor = self._cursor
        while size := self._data.batch_samples(cursor, self._parts):
            indices = self._data.indices(cursor, self._parts, self._part)
            content = self._data.read(indices, self._purpose(step))
            yield Batch(content, len(indices), size)
            cursor, step = cursor + size, step + 1

    def _prefetched(self, first_step: int) -> Iterator[Batch]:
        ahead: queue.Queue[Batch | BaseException | None] = queue.Queue(
            self._data.prefetch
        )

        def put(item: Batch | BaseException | None) -> None:
            while not self._stop.is_set():
                with contextlib.suppress(queue.Full):
                    ahead.put(item, timeout=0.1)
                    return

        def fill() -> None:
            try:
                for batch in self._read(first_step):
                    put(batch)
                    if self._stop.is_set():
                        return
                put(None)
            except BaseException as error:
                put(error)

        threading.Thread(target=fill, name="dynatrain-reader", daemon=True).start()
        while (item := ahead.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item


def warm_up_batch(data: Data, parts: int, part: int, purpose: Reading) -> Batch:
    """A throw-away batch of the real local shape."""
    origin, length = share(data.global_batch, parts, part)
    total = len(data.dataset)
    indices = [i % total for i in range(origin, origin + length)]
    return Batch(data.read(indices, purpose), length, data.global_batch)
