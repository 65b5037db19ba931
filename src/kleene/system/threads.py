"""Python threads for work that NumPy does without the GIL.

Where the system refuses to start a thread (a limit of processes or of memory), there are fewer;
where it starts none, the caller does the work.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

__all__ = ["ThreadPool", "for_each", "or_alone"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class ThreadPool:
    """At most so many threads, started as tasks come in; leaving the ``with`` waits for them."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._threads: list[threading.Thread] = []
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()

    def submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        """Start ``work(*args)``; return its future."""
        task = _Task(work, args)
        if len(self._threads) < self._most:
            self._start_thread()
        if self._threads:
            self._tasks.put(task)
        else:
            task.run()
        return task.future

    def _start_thread(self) -> None:
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._run_tasks, name=name)
        self._threads.append(thread)  # before Ctrl-C may come: the exit then ends it
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # "can't start new thread"
            self._threads.pop()

    def _run_tasks(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run()
            del task  # and what it holds, while this thread waits

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join()


class _Task:
    """A call and the future of its result."""

    def __init__(self, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.work, self.args = work, args
        self.future: Future[Any] = Future()

    def run(self) -> None:
        try:
            result = self.work(*self.args)
        except BaseException as error:
            self.future.set_exception(error)
            if not isinstance(error, Exception):  # Ctrl-C, where the caller does the work
                raise
        else:
            self.future.set_result(result)


def for_each(work: Callable[[Item], Any], items: Iterable[Item], threads: int) -> None:
    """Call ``work`` for all items, on at most so many threads; raise the first error.

    The caller is one of the threads. After an error the items that are left are skipped.
    """
    left, guard = iter(items), threading.Lock()
    stopped = threading.Event()

    def take() -> None:
        try:
            while not stopped.is_set():
                with guard:
                    try:
                        item = next(left)
                    except StopIteration:
                        return
                work(item)
        except BaseException:
            stopped.set()
            raise

    with ThreadPool(threads - 1, "kleene") as pool:
        others = [pool.submit(take) for _ in range(threads - 1)]
        take()
    for future in others:
        future.result()


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
