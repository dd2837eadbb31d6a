"""The executors that plugins register, checked and prepared for the runs."""

import inspect
from typing import cast

from netautod.automation.executions.running.in_thread import InThread
from netautod.core.errors import NetautodError
from netautod.plugin_api import BlockingExecutor, Executor


class WrongExecutor(NetautodError):
    """Raised when an executor cannot be run as it is declared.

    The text is a sentence for the author of the plugin.
    """


def prepared_executor(executor: Executor | BlockingExecutor) -> Executor:
    """Return the executor itself, or one that runs it in a thread.

    Raises WrongExecutor.
    """
    declared = getattr(executor, "blocking", False)
    if not isinstance(declared, bool):
        raise WrongExecutor(f"`blocking` of the executor for {executor.task_type} is True or False")
    is_async = inspect.iscoroutinefunction(executor.run)
    if declared and (is_async or inspect.isasyncgenfunction(executor.run)):
        raise WrongExecutor(
            f"the executor for {executor.task_type} declares `blocking = True`: its `run` must be a plain "
            "function, not an `async def`"
        )
    if not declared and not is_async:
        raise WrongExecutor(
            f"`run` of the executor for {executor.task_type} must be an `async def` that returns its output; "
            "a plain function needs `blocking = True`"
        )
    return cast(Executor, InThread(cast(BlockingExecutor, executor)) if declared else executor)


def package_of(executor: Executor) -> str:
    """Return the package of the executor, as log lines name it."""
    made: object = executor.wrapped if isinstance(executor, InThread) else executor
    return type(made).__module__.partition(".")[0]
