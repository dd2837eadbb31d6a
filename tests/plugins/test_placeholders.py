"""Task types that the service accepts and cannot run yet: one attempt that fails, and no retry."""

from typing import Any

import pytest

from netautod.assembly.settings import table
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.testing import run_executor


@pytest.mark.parametrize(
    ("task_type", "parameters", "text"),
    [
        pytest.param("deployment", {}, "deployment is not yet implemented", id="deployment"),
        pytest.param("health_check", {}, "health_check is not yet implemented", id="health_check"),
        pytest.param("custom_script", {"any": 1}, "custom_script is not yet implemented", id="custom_script"),
        pytest.param("agent_task", {"prompt": "x"}, "no model back end is configured", id="agent_task"),
        pytest.param("agent_task", {}, "invalid parameters: {'prompt': [", id="an agent without a prompt"),
    ],
)
async def test_task_types_that_only_fail(task_type: str, parameters: dict[str, Any], text: str) -> None:
    executor = PluginManager(LoadedPlugins.load(table())).executors()[task_type]
    run = await run_executor(executor, parameters, max_retries=3)
    assert (run.state, run.output) == ("failed", None)
    assert str(run.error).startswith(text)
