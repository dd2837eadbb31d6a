"""The marks by which the watching process knows what to name when the event loop is held up."""

from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import RunEnvironment
from netautod.automation.executions.running.registered_executors import package_of
from netautod.core.watch.board import MarkedRun
from netautod.core.watch.loop import Mark


def mark_of(environment: RunEnvironment, execution: Execution, epoch: int) -> Mark:
    executor = environment.executors.get(execution.task_type)
    run = MarkedRun(
        execution_id=execution.id,
        epoch=epoch,
        task=execution.task_name,
        plugin="-" if executor is None else package_of(executor),
    )
    return Mark(environment.board, run)
