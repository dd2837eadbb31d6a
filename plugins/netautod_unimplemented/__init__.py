"""Executors of the task types that the service accepts but cannot run yet: each run fails, no retry."""

from collections.abc import Callable
from typing import Any, ClassVar

from marshmallow import Schema

from netautod.plugin_api import Executor, PermanentFailure, RunContext, hookimpl


class _Unimplemented:
    """An executor that fails every run, without retries: trying again cannot help."""

    parameters_schema: ClassVar[type[Schema] | None] = None
    idempotent: ClassVar[bool] = True
    task_type: ClassVar[str]

    async def run(self, context: RunContext) -> Any:
        raise PermanentFailure(f"{self.task_type} is not yet implemented")


class DeploymentTask(_Unimplemented):
    task_type = "deployment"


class HealthCheckTask(_Unimplemented):
    task_type = "health_check"


class CustomScriptTask(_Unimplemented):
    task_type = "custom_script"


@hookimpl
def netautod_register_executors(register: Callable[[Executor], None]) -> None:
    for executor in (DeploymentTask(), HealthCheckTask(), CustomScriptTask()):
        register(executor)
