"""Two plugins that register the same: who has it, what is left of the other one, and what both are told."""

import pytest

from netautod.plugin_api import hookspecs
from netautod.plugin_host.loading.loader import PluginError
from tests.plugin_host.conftest import Installed, errors

FIRST = "a_first"  # before every built-in plugin by the alphabet
ALONE = "alone_with_it"
HEAD = """
from netautod.plugin_api import *

class Executor:
    parameters_schema = None
    idempotent = True
    def __init__(self, task_type):
        self.task_type = task_type
    async def run(self, context): ...

class Login:
    name = "ldap"
    provisioning = ProvisioningRules()
    async def close(self): ...
    async def authenticate(self, username, password): ...
    async def probe(self, username, password): ...
"""
EXECUTORS = (
    HEAD
    + """
@hookimpl({options})
def netautod_register_executors(register):
    for task_type in {task_types}:
        register(Executor(task_type))
"""
)
LOGINS = (
    HEAD
    + """
@hookimpl
def netautod_register_auth_providers(register):
    register(Login())
"""
)
INVENTORIES = (
    HEAD
    + """
@hookimpl
def netautod_register_inventory_sources(register):
    for name in {names}:
        register(name, lambda request: None)
"""
)


def executors(*task_types: str, options: str = "") -> str:
    return EXECUTORS.format(task_types=task_types, options=options)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("", id="by the alphabet"),
        pytest.param("tryfirst=True", id="by asking to be the first"),
        pytest.param("trylast=True", id="by asking to be the last"),
    ],
)
def test_nobody_takes_the_task_type_of_a_built_in_plugin(installed: Installed, options: str) -> None:
    installed.built_in = True
    installed.add(FIRST, executors(ALONE, "backup", options=options))
    manager = installed.manager()
    found = manager.executors()
    assert type(found["backup"]).__module__ == "netautod_backup.executor"
    assert ALONE not in found  # nothing of it is registered by half
    seen = errors(manager)
    assert seen["backup"] is None
    assert str(seen[FIRST]).endswith(
        "another plugin already registers an executor for backup: the built-in plugin backup"
    )


def test_what_is_not_implemented_is_there_to_be_implemented(installed: Installed) -> None:
    installed.built_in = True
    for name, task_type in ((FIRST, "deployment"), ("z_last", "health_check")):
        installed.add(name, executors(task_type))
    manager = installed.manager()
    found = manager.executors()
    ours = {name for name, one in found.items() if type(one).__module__ == "netautod_unimplemented"}
    assert ours == {"custom_script"}
    assert set(errors(manager).values()) == {None}


def test_two_outsiders_cannot_both_implement_it(installed: Installed) -> None:
    installed.built_in = True
    installed.add("b", executors("deployment"))
    first = installed.add("a", executors("deployment"))
    manager = installed.manager()
    assert type(manager.executors()["deployment"]).__module__ == first
    seen = errors(manager)
    assert (seen["a"], seen["unimplemented"]) == (None, None)
    assert str(seen["b"]).endswith("an executor for deployment: the plugin a")


def test_a_plugin_named_like_a_built_in_one_does_not_take_its_place(installed: Installed) -> None:
    installed.built_in = True
    installed.add("backup", executors("backup"))
    manager = installed.manager()
    assert type(manager.executors()["backup"]).__module__ == "netautod_backup.executor"
    told = [status.error for status in manager.statuses if status.name == "backup"]
    assert told == [None, "PluginError: another plugin has this name"]


def test_one_that_goes_on_after_the_refusal_has_failed_all_the_same(installed: Installed) -> None:
    swallowing = executors("backup", ALONE).replace(
        "        register(Executor(task_type))",
        "        try: register(Executor(task_type))\n        except Exception: pass",
    )
    installed.built_in = True
    installed.add(FIRST, swallowing)
    manager = installed.manager()
    assert ALONE not in manager.executors()
    assert "the built-in plugin backup" in str(errors(manager)[FIRST])


def test_one_that_registers_later_is_refused(installed: Installed) -> None:
    module = installed.add(
        FIRST, executors(ALONE).replace("    for", "    global late\n    late = register\n    for")
    )
    manager = installed.manager()
    found = manager.executors()
    late = __import__(module)
    with pytest.raises(PluginError, match="not later"):
        late.late(late.Executor("later"))
    assert list(found) == [ALONE]


def test_one_that_registers_a_type_twice_has_failed(installed: Installed) -> None:
    installed.add(FIRST, executors(ALONE, ALONE))
    manager = installed.manager()
    assert manager.executors() == {}
    assert f"the plugin registers {ALONE} twice" in str(errors(manager)[FIRST])


def test_a_required_plugin_whose_type_is_taken_is_fatal(installed: Installed) -> None:
    installed.built_in = True
    installed.add(FIRST, executors("backup"))
    with pytest.raises(PluginError, match=r"a_first is not available.*the built-in plugin backup"):
        installed.manager(required=[FIRST]).executors()


def test_the_same_holds_for_logins_and_inventories(installed: Installed) -> None:
    installed.built_in = True
    installed.add("b", LOGINS)
    installed.add("a", LOGINS)
    installed.add(FIRST, INVENTORIES.format(names=(ALONE, "netbox")))
    manager = installed.manager()
    assert type(manager.auth_providers()["ldap"]).__module__.endswith("_a_1")
    assert ALONE not in manager.inventory_sources()
    seen = errors(manager)
    assert str(seen["b"]).endswith("already registers the auth provider ldap: the plugin a")
    assert str(seen[FIRST]).endswith("the inventory source netbox: the built-in plugin netbox")


@pytest.mark.parametrize(
    ("definition", "error"),
    [
        pytest.param(
            "@hookimpl\nasync def {hook}(): ...",
            "{hook} is an asynchronous function: hooks are plain",
            id="async",
        ),
        pytest.param(
            "@hookimpl\nasync def {hook}(): yield",
            "{hook} is an asynchronous generator",
            id="async generator",
        ),
        pytest.param("@hookimpl\ndef {hook}(): yield", "{hook} is a generator", id="generator"),
        pytest.param(
            "@hookimpl(wrapper=True)\ndef {hook}(): return (yield)", "{hook} is a hook wrapper", id="wrapper"
        ),
        pytest.param(
            "import functools\nasync def work(): ...\n@hookimpl\n@functools.wraps(work)\n"
            "def {hook}(): return work()\n{hook}.__name__ = '{hook}'",
            "{hook} is an asynchronous function",
            id="async behind a decorator",
        ),
    ],
)
@pytest.mark.parametrize("hook", [name for name in dir(hookspecs) if name.startswith("netautod_")])
def test_a_hook_that_is_no_plain_function_is_refused_when_it_is_loaded(
    installed: Installed, definition: str, error: str, hook: str
) -> None:
    installed.add("odd", HEAD + definition.format(hook=hook))
    installed.add("whole", executors(ALONE))
    manager = installed.manager()
    assert list(manager.executors()) == [ALONE]
    seen = errors(manager)
    assert error.format(hook=hook) in str(seen["odd"])
    assert seen["whole"] is None


def test_a_hook_that_answers_a_coroutine_is_refused_when_it_is_called(installed: Installed) -> None:
    installed.add(
        "odd",
        HEAD + "async def work(register): ...\n"
        "@hookimpl\ndef netautod_register_executors(register):\n    return work(register)",
    )
    manager = installed.manager()
    assert manager.executors() == {}
    assert "netautod_register_executors answered a coroutine" in str(errors(manager)["odd"])


@pytest.mark.parametrize(
    ("replaced", "by", "error"),
    [
        pytest.param("async def run", "def run", "must be an `async def`", id="plain"),
        pytest.param("async def run", "async def go", "the executor Executor has no run", id="no run"),
        pytest.param("    idempotent = True\n", "", "has no idempotent: True or False", id="no idempotent"),
        pytest.param("idempotent = True", "idempotent = 'no'", "idempotent of the executor", id="a text"),
        pytest.param("    parameters_schema = None\n", "", "has no parameters_schema", id="no schema"),
        pytest.param(
            "schema = None", "schema = dict", "not a class of marshmallow schemas", id="no schema class"
        ),
        pytest.param("= task_type", "= ' '", "task_type of the executor Executor", id="no task type"),
        pytest.param(
            "register(Executor(task_type))", "register(Executor)", "Executor is a class", id="a class"
        ),
    ],
)
def test_an_executor_that_cannot_work_is_refused(
    installed: Installed, replaced: str, by: str, error: str
) -> None:
    installed.add("odd", executors("odd type").replace(replaced, by))
    installed.add("whole", executors(ALONE))
    manager = installed.manager()
    assert list(manager.executors()) == [ALONE]
    assert error in str(errors(manager)["odd"])
