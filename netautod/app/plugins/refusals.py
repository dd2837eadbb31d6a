"""What is refused when a plugin is loaded, because it could not work: hooks and executors of a wrong kind."""

import inspect
from collections.abc import Callable
from typing import Any

import pluggy
from marshmallow import Schema

from netautod.app.plugins.failures import PluginError


def refuse_hook(implementation: pluggy.HookImpl) -> None:
    """Raises PluginError for a hook that is not a plain function: it would be called, and nothing done."""
    name = implementation.function.__name__
    if implementation.hookwrapper or implementation.wrapper:
        raise PluginError(f"{name} is a hook wrapper: hooks are called one by one, nothing is wrapped")
    kind = _kind(implementation.function)
    if kind is not None:
        raise PluginError(f"{name} is {kind}: hooks are plain functions, what they register is asynchronous")


def refuse_answer(hook: str, answer: object) -> None:
    """Raises PluginError for what an asynchronous function in disguise (a decorated one) answers."""
    if not inspect.isawaitable(answer) and not inspect.isasyncgen(answer) and not inspect.isgenerator(answer):
        return
    if inspect.iscoroutine(answer) or inspect.isgenerator(answer):
        answer.close()  # it will not be awaited
    raise PluginError(f"{hook} answered a {type(answer).__name__}: hooks are plain functions")


def refuse_executor(executor: Any) -> None:
    """Raises PluginError for one without what the service asks of it (what `run` is like: `hosted`)."""
    if inspect.isclass(executor):
        name = executor.__name__
        raise PluginError(f"{name} is a class: an executor is an object, register {name}()")
    name = type(executor).__name__
    for attribute, right, wanted in _WANTED:
        if not hasattr(executor, attribute):
            raise PluginError(f"the executor {name} has no {attribute}: {wanted}")
        if not right(getattr(executor, attribute)):
            raise PluginError(f"{attribute} of the executor {name} is not {wanted}")


def _kind(function: Callable[..., Any]) -> str | None:
    """What a function is, if calling it does not do its work."""
    plain = inspect.unwrap(function)
    if inspect.iscoroutinefunction(plain):
        return "an asynchronous function"
    if inspect.isasyncgenfunction(plain):
        return "an asynchronous generator"
    return "a generator" if inspect.isgeneratorfunction(plain) else None


def _is_schema(value: object) -> bool:
    return value is None or (inspect.isclass(value) and issubclass(value, Schema))


_WANTED: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("task_type", lambda value: isinstance(value, str) and bool(value.strip()), "the name of a task type"),
    ("parameters_schema", _is_schema, "a class of marshmallow schemas, or None"),
    ("idempotent", lambda value: isinstance(value, bool), "True or False"),
    ("run", callable, "a function"),
)
