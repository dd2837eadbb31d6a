"""Refusals of what could not work in a plugin: wrong hooks, executors, collectors."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import pluggy
from marshmallow import Schema

from netautod.identity.users.models import LOCAL
from netautod.identity.users.provider_names import FORM_TEXT, PROVIDER_FORM
from netautod.plugin_api import TABLES, PasswordProvider, ProvisioningRules, RedirectProvider, RedirectRules
from netautod.plugin_host.loading.failures import PluginError


def refuse_hook(implementation: pluggy.HookImpl) -> None:
    """Raise PluginError for a hook that is not a plain function: it would be called, and nothing done."""
    name = implementation.function.__name__
    if implementation.hookwrapper or implementation.wrapper:
        raise PluginError(f"{name} is a hook wrapper: hooks are called one by one, nothing is wrapped")
    kind = kind_of(implementation.function)
    if kind is not None:
        raise PluginError(f"{name} is {kind}: hooks are plain functions, what they register is asynchronous")


def refuse_answer(hook: str, answer: object) -> None:
    """Raise PluginError for what an asynchronous function in disguise (a decorated one) returns."""
    if not inspect.isawaitable(answer) and not inspect.isasyncgen(answer) and not inspect.isgenerator(answer):
        return
    if inspect.iscoroutine(answer) or inspect.isgenerator(answer):
        answer.close()  # it will not be awaited
    raise PluginError(f"{hook} answered a {type(answer).__name__}: hooks are plain functions")


def refuse_executor(executor: Any) -> None:
    """Raise PluginError for an executor that lacks what the service calls (`prepared_executor` checks
    `run`)."""
    _refuse("an executor", executor, _EXECUTOR)


def refuse_collector(collector: Any) -> None:
    """Raise PluginError for a collector that lacks what the service calls."""
    _refuse("a collector", collector, _COLLECTOR)


def refuse_login(provider: Any) -> None:
    """Raise PluginError for a provider of logins that could let no user in."""
    _refuse("an auth provider", provider, _LOGIN)
    kinds = ((PasswordProvider, _PASSWORD_LOGIN), (RedirectProvider, _REDIRECT_LOGIN))
    required = [wanted for kind, wanted in kinds if isinstance(provider, kind)]
    if not required:
        raise PluginError("an auth provider is a PasswordProvider or a RedirectProvider")
    for wanted in required:
        _refuse("an auth provider", provider, wanted)


def refuse_model(model: Any) -> None:
    """Raise PluginError for a model back end that lacks what the service calls."""
    _refuse("a model back end", model, _MODEL)


def refuse_tool(tool: Any) -> None:
    """Raise PluginError for a tool that lacks what the service calls."""
    _refuse("an agent tool", tool, _TOOL)
    if tool.kind == "write" and not inspect.iscoroutinefunction(getattr(tool, "plan", None)):
        raise PluginError(f"the agent tool {tool.name} writes and has no asynchronous function plan")


def _refuse(kind: str, thing: Any, wanted: Iterable["_Wanted"]) -> None:
    if inspect.isclass(thing):
        name = thing.__name__
        raise PluginError(f"{name} is a class: {kind} is an object, register {name}()")
    name, the = type(thing).__name__, kind.partition(" ")[2]
    for attribute, right, what in wanted:
        if not hasattr(thing, attribute):
            raise PluginError(f"the {the} {name} has no {attribute}: {what}")
        if not right(getattr(thing, attribute)):
            raise PluginError(f"{attribute} of the {the} {name} is not {what}")


def kind_of(function: Callable[..., Any]) -> str | None:
    """Return what a function is, if calling it does not do its work."""
    plain = inspect.unwrap(function)
    if inspect.iscoroutinefunction(plain):
        return "an asynchronous function"
    if inspect.isasyncgenfunction(plain):
        return "an asynchronous generator"
    return "a generator" if inspect.isgeneratorfunction(plain) else None


def _is_schema(value: object) -> bool:
    return value is None or (inspect.isclass(value) and issubclass(value, Schema))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_tool_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value) is not None


def _is_provider_name(value: object) -> bool:
    return isinstance(value, str) and value != LOCAL and PROVIDER_FORM.fullmatch(value) is not None


def _are_tables(value: object) -> bool:
    return isinstance(value, frozenset) and bool(value) and value <= frozenset(TABLES)


_Wanted = tuple[str, Callable[[Any], bool], str]
_EXECUTOR: tuple[_Wanted, ...] = (
    ("task_type", _is_name, "the name of a task type"),
    ("parameters_schema", _is_schema, "a class of marshmallow schemas, or None"),
    ("idempotent", lambda value: isinstance(value, bool), "True or False"),
    ("run", callable, "a function"),
)
_LOGIN: tuple[_Wanted, ...] = (
    ("name", _is_provider_name, f"{FORM_TEXT}, and not {LOCAL}"),
    ("provisioning", lambda value: isinstance(value, ProvisioningRules), "ProvisioningRules"),
    ("close", inspect.iscoroutinefunction, "an asynchronous function"),
)
_PASSWORD_LOGIN: tuple[_Wanted, ...] = (
    ("authenticate", inspect.iscoroutinefunction, "an asynchronous function"),
    ("probe", inspect.iscoroutinefunction, "an asynchronous function"),
)
_REDIRECT_LOGIN: tuple[_Wanted, ...] = (
    ("redirects", lambda value: isinstance(value, RedirectRules), "RedirectRules"),
    ("authorize", inspect.iscoroutinefunction, "an asynchronous function"),
    ("callback", inspect.iscoroutinefunction, "an asynchronous function"),
)
_MODEL: tuple[_Wanted, ...] = (
    ("name", _is_name, "the name of a model back end"),
    ("complete", inspect.iscoroutinefunction, "an asynchronous function"),
)
_TOOL: tuple[_Wanted, ...] = (
    ("name", _is_tool_name, "a name of letters, digits, _ and -"),
    ("description", _is_name, "a text"),
    ("kind", lambda value: value in ("read", "write", "forbidden"), "read, write or forbidden"),
    ("permission", lambda value: value is None or _is_name(value), "the name of a permission, or None"),
    ("parameters", lambda value: inspect.isclass(value) and issubclass(value, Schema), "a class of schemas"),
    ("call", inspect.iscoroutinefunction, "an asynchronous function"),
)
_COLLECTOR: tuple[_Wanted, ...] = (
    ("transport", _is_name, "the name of a transport"),
    ("tables", _are_tables, f"a frozenset of {', '.join(TABLES)}"),
    ("collect", inspect.iscoroutinefunction, "an asynchronous function"),
)
