"""Reads ahead in a thread: the database works on the next answer while the last one is written."""

import queue
import threading
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from typing import TypeVar

T = TypeVar("T")
# Each may be an answer of the database with 1 MiB, or 16 where documents grow.
_AHEAD = 2


class _End:
    """The mark behind the last value: how the reading has ended."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


@contextmanager
def ahead(values: Iterable[T]) -> Generator[Generator[T, None, None], None, None]:
    """Yield the same values in the same order; they are made in a thread, which has ended when the
    block has.
    """
    waiting: queue.Queue[T | _End] = queue.Queue(_AHEAD)
    stop = threading.Event()

    def put(value: T | _End) -> None:
        while not stop.is_set():
            try:
                waiting.put(value, timeout=0.1)
            except queue.Full:
                continue
            return

    def read() -> None:
        try:
            for value in values:
                put(value)
                if stop.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised where the values are taken
            put(_End(error))
        else:
            put(_End(None))

    def taken() -> Generator[T, None, None]:
        while not isinstance(value := waiting.get(), _End):
            yield value
        if value.error is not None:
            raise value.error

    thread = threading.Thread(target=read, name="reading ahead", daemon=True)
    thread.start()
    try:
        with closing(taken()) as values_taken:
            yield values_taken
    finally:
        stop.set()
        thread.join()
