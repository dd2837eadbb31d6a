"""Plugins that do not work, each with what `netautod plugins check` must say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PYPROJECT = """\
[project]
name = "acme"
version = "1.2"

[project.entry-points.netautod]
acme = "acme"
"""
GOOD = """\
from typing import Any, ClassVar

from netautod.plugin_api import RunContext, hookimpl


class Ask:
    task_type: ClassVar[str] = "acme_ask"
    parameters_schema: ClassVar[None] = None
    idempotent: ClassVar[bool] = True

    async def run(self, context: RunContext) -> Any:
        return None


@hookimpl
def netautod_register_executors(register):
    register(Ask())
"""
PLATFORM = """\
name = "acme_os"
channel = "shell"
sources = ["a page"]

[prompts]
privileged = '(?P<host>[\\w.]{1,64})#\\s*$'

[session]
capture_mode = "privileged"

[capture]
items = [{ command = "show config" }]
"""
HOOK = "from netautod.plugin_api import hookimpl, setting\n\n\n@hookimpl\n"
REGISTERS_PLATFORM = (
    "from pathlib import Path\n\nfrom netautod.plugin_api import hookimpl\n\n\n@hookimpl\n"
    "def netautod_register_platforms(register):\n"
    "    register(Path(__file__).with_name('acme.toml'))\n"
)


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A broken plugin: `files` of the project beside a good pyproject.toml and package, or in their place."""

    id: str
    messages: tuple[str, ...]
    files: Mapping[str, str | None] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        files = {"pyproject.toml": PYPROJECT, "acme/__init__.py": GOOD, **self.files}
        for name, text in files.items():
            if text is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)


def module(id: str, text: str, *messages: str) -> Broken:
    return Broken(id=id, messages=messages, files={"acme/__init__.py": text})


def executor(id: str, before: str, after: str, *messages: str) -> Broken:
    """Return a plugin with the good executor, one thing of it changed."""
    assert before in GOOD
    return module(id, GOOD.replace(before, after), *messages)


def hook(id: str, text: str, *messages: str) -> Broken:
    """Return a plugin with a module of one hook; `text` begins with its `def`, in line 5."""
    return module(id, HOOK + text, *messages)


def platform(id: str, before: str, after: str, *messages: str) -> Broken:
    assert before in PLATFORM
    files = {"acme/__init__.py": REGISTERS_PLATFORM, "acme/acme.toml": PLATFORM.replace(before, after, 1)}
    return Broken(id=id, messages=messages, files=files)


def settings(id: str, text: str, *messages: str) -> Broken:
    made = f"from dataclasses import dataclass\n\n{HOOK}{DECLARES}\n\n"
    return module(id, made + text, *messages)


DECLARES = "def netautod_register_settings(register):\n    register(Made)\n"
SECTION = "@dataclass(frozen=True)\nclass Made:\n    url: str = "
BROKEN = (
    # The project.
    Broken(
        id="no entry point",
        messages=("the project has no entry point in the group netautod",),
        files={"pyproject.toml": PYPROJECT.partition("[project.entry")[0]},
    ),
    Broken(
        id="another group",
        messages=("no entry point in the group netautod", "in the group 'netautod.plugins'"),
        files={"pyproject.toml": PYPROJECT.replace("points.netautod", "points.'netautod.plugins'")},
    ),
    Broken(
        id="a misspelled group",
        messages=("no entry point in the group netautod", "in the group 'netauto'"),
        files={"pyproject.toml": PYPROJECT.replace("points.netautod", "points.netauto")},
    ),
    Broken(
        id="a module that is not there",
        messages=("No module named 'acmee'", "the entry point acme names it; did you mean acme?"),
        files={"pyproject.toml": PYPROJECT.replace('acme = "acme"', 'acme = "acmee"')},
    ),
    Broken(
        id="an attribute that is not there",
        messages=("has no attribute 'plugin'",),
        files={"pyproject.toml": PYPROJECT.replace('acme = "acme"', 'acme = "acme:plugin"')},
    ),
    Broken(
        id="no TOML", messages=("pyproject.toml: ", "line 1"), files={"pyproject.toml": "[project\nname = 1"}
    ),
    Broken(
        id="entry points that are no table",
        messages=("[project.entry-points.netautod] is a table",),
        files={"pyproject.toml": '[project]\nname = "acme"\nentry-points = ["acme"]\n'},
    ),
    Broken(
        id="a setup.py that fails",
        messages=("setup.py: ", "ModuleNotFoundError: No module named 'no_such_module'"),
        files={"pyproject.toml": None, "setup.py": "import no_such_module\n"},
    ),
    Broken(
        id="a setup.py without entry points",
        messages=("the project has no entry point",),
        files={
            "pyproject.toml": None,
            "setup.py": "from setuptools import setup\nsetup(name='acme', packages=['acme'])\n",
        },
    ),
    Broken(
        id="the name of ours",
        messages=("the name backup is that of a plugin of netautod's own",),
        files={"pyproject.toml": PYPROJECT.replace('acme = "acme"', 'backup = "acme"')},
    ),
    # The import.
    module("a syntax error", "def (:\n", "acme/__init__.py, line 1: SyntaxError"),
    module("no such module", "\n\nimport no_such\n", "acme/__init__.py, line 3: ModuleNotFoundError"),
    module("an exception", "\nraise ValueError('no')\n", "acme/__init__.py, line 2: ValueError: no"),
    module("an exit", "import sys\nsys.exit(3)\n", "acme/__init__.py, line 2: SystemExit: 3"),
    module("a hard exit", "import os\nos._exit(7)\n", "ended with exit code 7 while importing acme"),
    module(
        "a signal",
        "import ctypes\nctypes.string_at(0)\n",
        "was ended by signal 11 while importing acme",
    ),
    module(
        "no such name", "from netautod.plugin_api import Exekutor\n", "netautod.plugin_api offers no Exek"
    ),
    module("a file", "open('/tmp/x-of-acme', 'w')\n", "it writes '/tmp/x-of-acme': a plugin has no effects"),
    module("a program", "import subprocess\nsubprocess.run(['true'])\n", "line 2: HasEffects: it starts a"),
    module("a shell", "import os\nos.system('true')\n", "line 2: HasEffects: it starts a program"),
    module("a folder", "import os\nos.mkdir('/tmp/acme-made')\n", "line 2: HasEffects: it makes a folder"),
    module(
        "a file, and no word of it",
        "try:\n    open('/tmp/x-of-acme', 'w')\nexcept Exception:\n    pass\n" + GOOD,
        "it writes '/tmp/x-of-acme': a plugin has no effects",
    ),
    module("a removal", "import os\nos.remove('/tmp/acme-made')\n", "HasEffects: it removes a file"),
    module(
        "a connection",
        "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)\n",
        "acme/__init__.py, line 2: HasEffects",
    ),
    module(
        "a thread",
        "import threading\nimport time\n"
        "threading.Thread(target=time.sleep, args=(9,), name='tick', daemon=True).start()\n" + GOOD,
        "importing it starts the thread 'tick'",
    ),
    # What a plugin may import.
    module(
        "ours",
        "import netautod.assembly.settings\n" + GOOD,
        "line 1: netautod.assembly.settings is netautod's own",
    ),
    module("ours as a name", "from netautod import core\n" + GOOD, "line 1: netautod.core is netautod's own"),
    module("ours whole", "import netautod\n" + GOOD, "acme/__init__.py, line 1: netautod is netautod's own"),
    module(
        "ours in a function",
        GOOD + "\n\ndef late():\n    from netautod.store.client import Database\n    return Database\n",
        "line 21: netautod.store.client is netautod's own",
    ),
    module(
        "ours by its name",
        "import importlib\nimportlib.import_module('netautod.core.clock')\n" + GOOD,
        "line 2: netautod.core.clock is netautod's own",
    ),
    module(
        "a module inside",
        "from netautod.plugin_api.executors.contract import Executor\n" + GOOD,
        "line 1: netautod.plugin_api.executors.contract is netautod's own",
    ),
    module("a plugin of ours", "import netautod_cli\n" + GOOD, "netautod_cli is a plugin of netautod's own"),
    Broken(
        id="ours in another file",
        messages=("acme/more.py, line 1: netautod.core is netautod's own",),
        files={"acme/more.py": "from netautod import core\n"},
    ),
    Broken(
        id="a syntax error in another file",
        messages=("acme/more.py, line 2: SyntaxError",),
        files={"acme/more.py": "\n)\n"},
    ),
    # The version.
    module("a newer minor", "NETAUTOD_PLUGIN_API = '1.999'\n" + GOOD, "netautod is too old for it"),
    module("a newer major", "NETAUTOD_PLUGIN_API = '99.0'\n" + GOOD, "written for plugin API 99.0"),
    module("a version that is none", "NETAUTOD_PLUGIN_API = 1.0\n" + GOOD, "is a text such as"),
    module(
        "a newer name",
        "from netautod.plugin_api import Later\n\nNETAUTOD_PLUGIN_API = '99.0'\n",
        "netautod is too old for it",
    ),
    # Hooks.
    module("no hook", "x = 1\n", "acme implements no hook"),
    module(
        "no marker",
        GOOD.replace("@hookimpl\n", ""),
        "line 15: netautod_register_executors has no @hookimpl: it is never called",
    ),
    hook("an unknown hook", "def netautod_hello():\n    pass\n", "netautod_hello: there is no such hook"),
    hook(
        "a misspelled hook",
        "def netautod_register_executor(register):\n    pass\n",
        "line 4: netautod_register_executor: there is no such hook; did you mean netautod_register_exec",
    ),
    hook("another name", "def on_change(event):\n    pass\n", "on_change: there is no such hook"),
    hook(
        "an unknown argument",
        "def netautod_config_changed(change):\n    pass\n",
        "netautod_config_changed has no argument change: it may name event",
    ),
    hook(
        "any arguments",
        "def netautod_config_changed(*args):\n    pass\n",
        "netautod_config_changed: a hook names its arguments, it has no *args",
    ),
    hook(
        "an asynchronous hook",
        "async def netautod_config_changed(event):\n    pass\n",
        "netautod_config_changed is an asynchronous function: hooks are plain functions",
    ),
    hook(
        "a generator", "def netautod_config_changed(event):\n    yield\n", "is a generator: hooks are plain"
    ),
    hook(
        "an asynchronous generator",
        "async def netautod_config_changed(event):\n    yield\n",
        "is an asynchronous generator: hooks are plain",
    ),
    module(
        "a wrapper",
        HOOK.replace("@hookimpl\n", "@hookimpl(wrapper=True)\n")
        + "def netautod_config_changed(event):\n    return (yield)\n",
        "netautod_config_changed is a hook wrapper",
    ),
    hook(
        "two mistakes",
        "async def netautod_config_changed(change):\n    pass\n\n\n@hookimpl\n"
        "def netautod_backup_stal(event):\n    pass\n",
        "netautod_config_changed is an asynchronous function",
        "netautod_config_changed has no argument change",
        "did you mean netautod_backup_stale?",
    ),
    hook(
        "a disguised asynchronous hook",
        "def netautod_register_executors(register):\n    return work()\n\n\nasync def work():\n    pass\n",
        "netautod_register_executors answered a coroutine: hooks are plain functions",
    ),
    # What is registered.
    hook(
        "a hook that fails",
        "def netautod_register_executors(register):\n    raise KeyError('x')\n",
        "acme/__init__.py, line 6: netautod_register_executors: KeyError: 'x'",
    ),
    hook(
        "a hook that exits",
        "def netautod_register_tools(register):\n    raise SystemExit(2)\n",
        "netautod_register_tools: ExitRaised: SystemExit: 2",
    ),
    executor("a class", "Ask())", "Ask)", "Ask is a class: an executor is an object, register Ask()"),
    executor("no task type", "task_type:", "type:", "line 17: ", "the executor Ask has no task_type"),
    executor("an empty task type", '"acme_ask"', '" "', "task_type of the executor Ask is not the name"),
    executor("a task type that is none", '"acme_ask"', "7", "task_type of the executor Ask is not the name"),
    executor("a schema that is none", "None] = None", "None] = {}", "parameters_schema of the executor Ask"),
    executor("not idempotent", "= True", "= 'yes'", "idempotent of the executor Ask is not True or False"),
    executor("a plain run", "async def", "def", "must be an `async def`"),
    executor(
        "a task type of ours", "acme_ask", "backup", "already registers an executor for backup", "built-in"
    ),
    executor(
        "the same twice",
        "register(Ask())",
        "register(Ask())\n    register(Ask())",
        "registers acme_ask twice",
    ),
    hook(
        "a collector without tables",
        "def netautod_register_collectors(register):\n    register(Made())\n\n\n"
        "class Made:\n    transport = 'acme'\n    tables = ['status']\n\n"
        "    async def collect(self, target, wanted):\n        pass\n",
        "tables of the collector Made is not a frozenset of",
    ),
    hook(
        "a transport of ours",
        "def netautod_register_collectors(register):\n    register(Made())\n\n\n"
        "class Made:\n    transport = 'snmp'\n    tables = frozenset({'status'})\n\n"
        "    async def collect(self, target, wanted):\n        pass\n",
        "another plugin already registers a collector for snmp: the built-in plugin snmp",
    ),
    hook(
        "an auth provider that is none",
        "def netautod_register_auth_providers(register):\n    register(object())\n",
        "the auth provider object has no name",
    ),
    hook(
        "a source without a name",
        "def netautod_register_inventory_sources(register):\n    register('', object)\n",
        "the name of a kind of inventory is a text",
    ),
    hook(
        "a tool without a schema",
        "def netautod_register_tools(register):\n    register(Made())\n\n\n"
        "class Made:\n    name = 'acme'\n    description = 'x'\n    kind = 'read'\n    permission = None\n"
        "    parameters = dict\n\n    async def call(self, arguments, context):\n        pass\n",
        "parameters of the agent tool Made is not a class of schemas",
    ),
    hook(
        "a service with a wrong hook",
        "def netautod_register_services(register):\n    register(Made())\n\n\n"
        "class Made:\n    @hookimpl\n    def netautod_config_change(self, event):\n        pass\n",
        "Made: line 10: netautod_config_change: there is no such hook; did you mean netautod_config_changed?",
    ),
    # Settings.
    settings("settings that are no dataclass", "class Made:\n    pass\n", "declared by a frozen dataclass"),
    settings("settings that are not frozen", "@dataclass\nclass Made:\n    pass\n", "Made is not frozen"),
    settings("a plain field", SECTION + "''\n", "Made.url is not made by setting(...)"),
    settings(
        "a type that is none",
        "@dataclass(frozen=True)\nclass Made:\n    url: list = setting((), 'x')\n",
        "Made.url: a setting cannot be of type",
    ),
    settings(
        "a check that fails",
        SECTION + "setting('', 'x')\n\n    def check(self):\n        raise KeyError(1)\n",
        "its settings fail at their check: KeyError: 1",
    ),
    Broken(
        id="a section of ours",
        messages=("[server] is a setting of the service itself",),
        files={
            "pyproject.toml": PYPROJECT.replace('acme = "acme"', 'server = "acme"'),
            "acme/__init__.py": f"from dataclasses import dataclass\n\n{HOOK}"
            "def netautod_register_settings(register):\n    register(Made)\n\n\n"
            + SECTION
            + "setting('', 'x')\n",
        },
    ),
    # Platforms.
    platform("an unknown key", "capture_mode", "capture_mod", "acme.toml [session], line 9: ", "capture_mod"),
    platform("no TOML at all", "[prompts]", "[prompts", "acme.toml", "line 5"),
    platform("a wrong pattern", "(?P<host>", "(?P<host", "acme.toml [prompts], line 6: "),
    platform("a wrong channel", '"shell"', '"smoke"', "acme.toml, line 2: ", "'smoke'"),
    platform("no name", 'name = "acme_os"\n', "", "acme.toml: ", "name is missing"),
    platform("a name of ours", "acme_os", "cisco_ios", "the platform name 'cisco_ios' is taken"),
    Broken(
        id="a platform that is not there",
        messages=("line 8: netautod_register_platforms: ", "acme.toml"),
        files={"acme/__init__.py": REGISTERS_PLATFORM},
    ),
)
# These do not end by themselves.
HANGING = (
    module("a loop", "while True:\n    pass\n", "importing acme did not end within 2 seconds"),
    module(
        "a wait", "import threading\nthreading.Event().wait()\n", "importing acme did not end within 2 sec"
    ),
    hook(
        "a hook that waits",
        "def netautod_register_executors(register):\n    import time\n    time.sleep(3600)\n",
        "did not end within 2 seconds",
    ),
)
