"""Agent tasks, and a back end for OpenAI-compatible models; configured by the section `[agent]`."""

from collections.abc import Callable

from netautod.plugin_api import Executor, ModelBackend, PluginHost, hookimpl
from netautod_agent.completions import ChatCompletions
from netautod_agent.executor import AgentExecutor, AgentParameters
from netautod_agent.settings import AgentSettings

__all__ = [
    "AgentExecutor",
    "AgentParameters",
    "AgentSettings",
    "ChatCompletions",
    "netautod_register_executors",
    "netautod_register_models",
    "netautod_register_settings",
]


@hookimpl
def netautod_register_settings(register: Callable[[type[AgentSettings]], None]) -> None:
    register(AgentSettings)


@hookimpl
def netautod_register_executors(
    register: Callable[[Executor], None], host: PluginHost[AgentSettings]
) -> None:
    register(AgentExecutor(host.settings))


@hookimpl
def netautod_register_models(
    register: Callable[[ModelBackend], None], host: PluginHost[AgentSettings]
) -> None:
    if host.settings.configured:
        register(ChatCompletions(host.settings))
