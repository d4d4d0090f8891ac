"""The global cursor: each sample once per epoch, whatever worlds come and go."""

import os
import random
import threading
import time
from collections import Counter

import pytest

from dynatrain.data import Data, Reader, Reading, reading, warm_up_batch


class Numbers:
    """Sample i is i."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.seen: list[tuple[int, Reading | None]] = []

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        self.seen.append((index, reading()))
        return index


def purpose(step: int) -> Reading:
    return Reading(1, step, 0, 0, False)


def test_each_sample_once_per_epoch_across_changing_worlds() -> None:
    seed = int(os.environ.get("DYNATRAIN_TEST_SEED", random.randrange(1 << 30)))
    print(f"DYNATRAIN_TEST_SEED={seed}")
    chance = random.Random(seed)
    for _ in range(30):
        length, batch, epochs = (chance.randint(8, 60) for _ in range(3))
        batch = min(batch, 12)
        data = Data(Numbers(length), max(batch, 6), seed=seed, epochs=epochs % 4 + 1)
        cursor, step, read = 0, 0, list[int]()
        parts = 1
        while not Reader(data, cursor, parts, 0, purpose).at_end(cursor):
            parts = chance.randint(1, 6)  # another world for a few steps
            for _ in range(chance.randint(1, 4)):
                if not data.batch_samples(cursor, parts):
                    break
                for part in range(parts):
                    read += data.indices(cursor, parts, part)
                cursor, step = cursor + data.batch_samples(cursor, parts), step + 1
        total = data.samples
        assert total - len(read) < parts  # a rest that can't feed all coordinates
        whole = len(read) // length * length
        for begin in range(0, whole, length):
            assert sorted(read_order(data, begin, length)) == list(range(length))
        assert Counter(read) == Counter(data.order(0, len(read)))


def read_order(data: Data, begin: int, length: int) -> list[int]:
    return data.order(begin, begin + length)


def test_order_depends_on_seed_and_epoch_only() -> None:
    first = Data(Numbers(50), 5, seed=1, epochs=3)
    again = Data(Numbers(50), 7, seed=1, epochs=3)
    other = Data(Numbers(50), 5, seed=2, epochs=3)
    assert first.order(0, 150) == again.order(0, 150) != other.order(0, 150)
    assert first.order(0, 50) != first.order(50, 100)


@pytest.mark.parametrize("prefetch", [0, 3])
def test_reader_gives_the_parts_of_the_global_batches(prefetch: int) -> None:
    data = Data(
        Numbers(40), 10, seed=3, steps=4, collate=lambda x: x, prefetch=prefetch
    )
    batches = [list(Reader(data, 0, 3, part, purpose).batches(1)) for part in range(3)]
    for step in range(4):
        parts = [batches[part][step] for part in range(3)]
        assert [b.samples for b in parts] == [4, 3, 3]
        content = [index for batch in parts for index in batch.content]
        assert content == data.order(step * 10, step * 10 + 10)


def test_what_was_read_ahead_is_thrown_away_not_counted() -> None:
    data = Data(Numbers(40), 10, steps=4, collate=lambda x: x, prefetch=2)
    reader = Reader(data, 0, 1, 0, purpose)
    first = next(reader.batches(1))
    reader.stop()
    second = next(Reader(data, first.global_samples, 1, 0, purpose).batches(2))
    assert first.content + second.content == data.order(0, 20)


def test_an_error_of_the_data_set_reaches_the_step_also_when_read_ahead() -> None:
    class Broken(Numbers):
        def __getitem__(self, index: int) -> int:
            raise OSError("disk gone")

    for prefetch in (0, 2):
        data = Data(Broken(9), 3, steps=3, prefetch=prefetch)
        with pytest.raises(OSError, match="disk gone"):
            next(Reader(data, 0, 1, 0, purpose).batches(1))


def test_two_threads_never_read_the_data_set_at_once() -> None:
    class File(Numbers):
        at = 0

        def __getitem__(self, index: int) -> int:
            self.at = index  # as seek() and then read()
            time.sleep(0.001)
            return self.at

    data = Data(File(50), 5, steps=9, collate=lambda x: x)
    found: list[bool] = []

    def read(part: list[int]) -> None:
        found.append(data.read(part, purpose(1)) == part)

    threads = [
        threading.Thread(target=read, args=([i, i + 10, i + 20],)) for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_reading_says_what_a_sample_is_for() -> None:
    numbers = Numbers(10)
    data = Data(numbers, 4, steps=2, collate=lambda x: x)
    list(Reader(data, 0, 2, 1, lambda s: Reading(7, s, 1, 0, False)).batches(5))
    warm_up_batch(data, 2, 1, Reading(8, 0, 1, 0, True))
    assert [r.step for _, r in numbers.seen if r and not r.warm_up] == [5, 5, 6, 6]
    assert [r.generation for _, r in numbers.seen if r and r.warm_up] == [8, 8]
    assert reading() is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"global_batch": 0, "steps": 1}, "global_batch is 0"),
        ({"global_batch": 1}, "either epochs or steps"),
        ({"global_batch": 1, "steps": 1, "epochs": 1}, "either epochs or steps"),
        ({"global_batch": 1, "steps": 0}, "at least 1"),
        ({"global_batch": 1, "steps": 1, "prefetch": -1}, "prefetch is -1"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Data(Numbers(3), **arguments)  # type: ignore[arg-type]


def test_a_world_that_the_batch_cannot_feed_is_refused() -> None:
    with pytest.raises(ValueError, match="can't feed 4"):
        Reader(Data(Numbers(9), 3, steps=1), 0, 4, 0, purpose)
