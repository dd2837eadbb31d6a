"""By which the watching process knows what to name when the event loop is held up."""

from netautod.core.watch.board import MarkedRun
from netautod.core.watch.loop import Mark
from netautod.executions.models import Execution
from netautod.executions.running.environment import RunEnvironment
from netautod.executions.running.hosted import package_of


def mark_of(environment: RunEnvironment, execution: Execution, epoch: int) -> Mark:
    executor = environment.executors.get(execution.task_type)
    run = MarkedRun(
        execution_id=execution.id,
        epoch=epoch,
        task=execution.task_name,
        plugin="-" if executor is None else package_of(executor),
    )
    return Mark(environment.board, run)
