"""The executor of agent tasks. Its model back ends are plugins of their own; none exists yet."""

from collections.abc import Callable
from typing import Any, ClassVar

from marshmallow import INCLUDE, Schema, fields, validate

from netautod.plugin_api import Executor, PermanentFailure, RunContext, hookimpl


class AgentParameters(Schema):
    """`prompt` is the only recognised key; others are kept as they are."""

    class Meta:
        unknown = INCLUDE

    prompt = fields.String(required=True, validate=validate.Length(min=1, max=65536))


class AgentExecutor:
    """Not idempotent: an agent that was half-way through must not be started again by itself."""

    task_type: ClassVar[str] = "agent_task"
    parameters_schema: ClassVar[type[Schema] | None] = AgentParameters
    idempotent: ClassVar[bool] = False

    async def run(self, context: RunContext) -> Any:
        raise PermanentFailure("no model back end is configured")


@hookimpl
def netautod_register_executors(register: Callable[[Executor], None]) -> None:
    register(AgentExecutor())
