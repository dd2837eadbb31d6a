"""Each hook has its section in the guide: parameters, when it is called, and an example that is a plugin."""

import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from netautod import plugin_api
from netautod.plugin_api import hookspecs
from netautod.plugin_host.loading.loader import LoadedPlugins, call
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers.registrations import REGISTRATIONS
from tests.support.guide import guide, write_example

HOOKS = {name: hook for name, hook in vars(hookspecs).items() if name.startswith("netautod_")}
GUIDE = guide()
_SECTION = re.compile(r"^## Implement `(netautod_\w+)\((.*?)\)`\n(.*?)(?=^#{1,2} |\Z)", re.M | re.S)
_PARTS = re.compile(
    r"\nParameters:\n\n(?P<parameters>.*?)\nWhen it is called: (?P<when>.*?)\n\nExample:\n\n"
    r"```python\n(?P<example>.*?)```\n",
    re.S,
)
_SAMPLES: dict[Any, Any] = {str: "text", int: 1, float: 1.5, bool: True, datetime: datetime.now(UTC)}


@dataclass(frozen=True, kw_only=True)
class Section:
    arguments: list[str]
    parameters: dict[str, str]
    when: str
    example: str


def section_of(name: str) -> Section:
    """Return the one section of the hook; its parts have an order and their own headings."""
    found = [
        (arguments, text)
        for hook, arguments, text in _SECTION.findall(_without_code(GUIDE)[0])
        if hook == name
    ]
    assert len(found) == 1, f"extend/ needs one section `{name}(...)`, not {len(found)}"
    arguments, text = found[0]
    parts = _PARTS.search(_with_code(text))
    assert parts is not None, (
        f"the section of {name} has Parameters, When it is called, Example: in this order"
    )
    listed = re.findall(r"^\* `(\w+)`: (.*?)(?=^\* |\Z)", parts["parameters"], re.M | re.S)
    return Section(
        arguments=arguments.split(", "),
        parameters=dict(listed),
        when=parts["when"],
        example=parts["example"],
    )


def _without_code(text: str) -> tuple[str, list[str]]:
    """Return the text without its blocks, so that a comment in one is no heading, and the blocks."""
    blocks: list[str] = []

    def keep(block: re.Match[str]) -> str:
        blocks.append(block[0])
        return f"@@{len(blocks) - 1}@@"

    return re.sub(r"^```\w+\n.*?^```$", keep, text, flags=re.M | re.S), blocks


def _with_code(text: str) -> str:
    blocks = _without_code(GUIDE)[1]
    return re.sub(r"@@(\d+)@@", lambda place: blocks[int(place[1])], text)


def plugin_of(name: str, folder: Path) -> ModuleType:
    """Return the example as a module of the folder, compiled and run as it is printed."""
    made = ModuleType(f"example_of_{name}")
    made.__file__ = str(folder / "__init__.py")
    exec(compile(section_of(name).example, f"<{name}>", "exec"), vars(made))
    return made


def sample(kind: Any) -> Any:
    """Return a value of a type; the fields of a dataclass are samples, so a flag is set."""
    if kind in _SAMPLES:
        return _SAMPLES[kind]
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        filled = {one.name: sample(hints[one.name]) for one in fields(kind)}
        return typing.cast(Callable[..., Any], kind)(**filled)
    options = typing.get_args(kind)
    assert options, f"there is no sample of {kind}"
    return sample(options[0])


@pytest.mark.parametrize("name", HOOKS)
def test_the_section_names_each_argument_and_its_types(name: str) -> None:
    section, signature = section_of(name), inspect.signature(HOOKS[name])
    assert section.arguments == list(signature.parameters)
    assert list(section.parameters) == list(signature.parameters)
    for argument, parameter in signature.parameters.items():
        types = set(re.findall(r"\w+", str(parameter.annotation))) & {*plugin_api.__all__, "Path"}
        assert [one for one in types if f"`{one}`" not in section.parameters[argument]] == []
    assert len(section.when) > 20


@pytest.mark.parametrize("name", HOOKS)
def test_the_example_is_a_plugin_that_implements_the_hook(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_example("acme_platform", "", tmp_path)
    loaded = LoadedPlugins.of({"example": plugin_of(name, tmp_path / "acme_platform")})
    [implementation] = loaded.implementations(name)
    if name == "netautod_register_settings":
        assert list(loaded.sections) == ["example"]
    elif name in REGISTRATIONS:
        assert list(REGISTRATIONS[name](PluginManager(loaded)))
        assert [status.error for status in loaded.statuses] == [None]
    else:
        hints = typing.get_type_hints(HOOKS[name])
        call(implementation, {one: sample(hints[one]) for one in inspect.signature(HOOKS[name]).parameters})
        assert capsys.readouterr().out.strip()


def test_the_commands_that_check_plugins_call_every_hook_that_registers() -> None:
    registering = {name for name in HOOKS if name.startswith("netautod_register_")}
    assert set(REGISTRATIONS) == registering - {"netautod_register_settings"}
