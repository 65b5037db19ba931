"""Python threads for work that NumPy does without the GIL, in the presence of Ctrl-C.

Where the system refuses to start a thread (a limit of processes or of memory), there are fewer;
where it starts none, the caller does the work.

Python runs the handler of a signal between two steps of the main thread, also of the code of
``threading`` and ``concurrent.futures``: a KeyboardInterrupt between "the lock is taken" and "so it
must be released" leaves it taken, and the next thread that needs it waits forever. The threads
that a pool starts are never interrupted; the one that calls it may be. So caller and threads share
no lock and no Condition, Event or Future. They share queues and lists, each operation of which is
one call into C, after which either all of it has happened or nothing.
"""

from __future__ import annotations

import sys
import threading
from _thread import allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, TypeVar

from kleene.system.interrupts import keep

__all__ = ["Future", "ThreadPool", "for_each", "or_alone", "uninterrupted"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Future(Generic[Answer]):
    """A call that a thread makes, and what came of it; one other thread waits for that."""

    def __init__(self, work: Callable[..., Answer], args: tuple[Any, ...]) -> None:
        self._call: tuple[Callable[..., Answer], tuple[Any, ...]] | None = (work, args)
        self._value: Any = None
        self._error: BaseException | None = None
        self._over = False
        self._opened = allocate_lock()  # when the call is over
        self._opened.acquire()

    def done(self) -> bool:
        """Return whether the call is over."""
        return self._over

    def result(self) -> Answer:
        """Return what the call returned, or raise what it raised; wait until it is over."""
        while not self._over:  # set before the lock is opened: Ctrl-C here loses nothing
            self._opened.acquire()
        if self._error is None:
            value: Answer = self._value
            return value
        try:
            raise self._error
        finally:
            del self  # the traceback of the error holds this frame

    def run(self) -> None:
        """Make the call; raise nothing but what is no Exception."""
        assert self._call is not None
        work, args = self._call
        try:
            self._value = work(*args)
        except Exception as error:
            self._error = error
        except BaseException as error:  # Ctrl-C, where the caller does the work
            self._error = error
            raise
        finally:
            self._call = None  # and what it holds
            self._over = True
            self._opened.release()
            del self, work, args  # as above


class ThreadPool:
    """At most so many threads, started as tasks come in; leaving the ``with`` waits for them.

    On Ctrl-C it waits for the tasks that it was given, and on a second one for nothing.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: list[int] = []  # that were started
        self._tasks: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._left: SimpleQueue[None] = SimpleQueue()  # wakes who waits for the end of threads
        self._ended: list[None] = []

    def submit(self, work: Callable[..., Answer], *args: Any) -> Future[Answer]:
        """Start ``work(*args)``; return its future."""
        task = Future(work, args)
        if len(self._threads) < self._most:
            self._start_thread()
        if self._threads:
            self._tasks.put(task)
        else:
            task.run()
        return task

    def _start_thread(self) -> None:
        with suppress(RuntimeError, MemoryError):  # "can't start new thread"
            given = self._tasks, self._ended, self._left
            keep(self._threads, start_new_thread, _run_tasks, given)

    def close(self) -> None:
        """Wait until all tasks are done and the threads have ended."""
        self._tasks.put(None)  # the last one: a thread that takes it leaves it to the next
        while len(self._ended) < len(self._threads):
            self._left.get()

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except BaseException:  # Ctrl-C: the threads may be at work on memory of the caller's
            self.close()
            raise

    def __del__(self) -> None:
        if getattr(self, "_threads", None):  # Ctrl-C may have left it half made
            self._tasks.put(None)  # where Ctrl-C came before the first step of __exit__


def _run_tasks(
    tasks: SimpleQueue[Future[Any] | None], ended: list[None], left: SimpleQueue[None]
) -> None:
    """Run tasks until there are no more; the pool itself is not held."""
    if (trace := threading.gettrace()) is not None:  # debuggers and coverage see this thread
        sys.settrace(trace)
    while (task := tasks.get()) is not None:
        with suppress(BaseException):  # kept for the thread that waits for it
            task.run()
        del task  # and what it holds, while this thread waits
    tasks.put(None)
    ended.append(None)
    left.put(None)


def for_each(work: Callable[[Item], Any], items: Iterable[Item], threads: int) -> None:
    """Call ``work`` for all items, on at most so many threads; raise the first error.

    The caller is one of the threads. After an error the items that are left are skipped.
    """
    left = deque(items)

    def take() -> None:
        try:
            while True:
                try:
                    item = left.popleft()
                except IndexError:
                    return
                work(item)
        except BaseException:
            left.clear()
            raise

    with ThreadPool(threads - 1) as pool:
        try:
            others = [pool.submit(take) for _ in range(threads - 1)]
            take()
        except BaseException:  # Ctrl-C, between two steps
            left.clear()
            raise
    for task in others:
        task.result()


def uninterrupted(work: Callable[..., Answer], *args: Any) -> Answer:
    """Return ``work(*args)``, of a library that shares locks with threads of its own.

    Where Ctrl-C may come, another thread makes the call. Ctrl-C waits for its end, so the work
    should be short.
    """
    if threading.current_thread() is not threading.main_thread():
        return work(*args)
    with ThreadPool(1) as thread:
        return thread.submit(work, *args).result()


def or_alone(work: Callable[[int], Answer], threads: int) -> Answer:
    """Return ``work(threads)``, of a library that starts threads; ``work(1)`` where it cannot.

    Libraries tell that in their own ways: by RuntimeError, or by an AttributeError of the thread
    that did not start. An error of another cause is raised by the second call.
    """
    try:
        return work(threads)
    except (AttributeError, RuntimeError):
        if threads == 1:
            raise
        return work(1)
