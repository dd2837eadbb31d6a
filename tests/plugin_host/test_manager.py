"""Plugins: loaded one by one, reported when broken, fatal when required; and what the built-in ones run."""

from pathlib import Path

import pytest

from netautod.assembly.settings import table
from netautod.plugin_host.loading.loader import LoadedPlugins, PluginError
from netautod.plugin_host.manager import PluginManager
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.plugin_host.conftest import Installed, errors

EXECUTOR = """
from netautod.plugin_api import hookimpl

class Executor:
    task_type = {task_type!r}
    parameters_schema = None
    idempotent = True
    async def run(self, context):
        return {{"by": __name__}}

@hookimpl
def netautod_register_executors(register):
    register(Executor())
"""
PLATFORM = """
from pathlib import Path
from netautod.plugin_api import hookimpl

@hookimpl
def netautod_register_platforms(register):
    register(Path(__file__).parent / "acme_os.toml")
"""
BROKEN = [
    pytest.param("import no_such_module", "ModuleNotFoundError: No module named", id="a missing import"),
    pytest.param("def (", "SyntaxError: ", id="a syntax error"),
    pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="an exception at import"),
    pytest.param("import sys; sys.exit('bye')", "SystemExit: bye", id="an exit at import"),
    pytest.param(
        "from netautod.plugin_api import hookimpl\n@hookimpl\ndef netautod_register_executor(register): ...",
        "unknown hook 'netautod_register_executor'",
        id="a misspelt hook",
    ),
    pytest.param(
        "from netautod.plugin_api import hookimpl\n@hookimpl\ndef netautod_register_executors(reg): ...",
        "hookimpl definition: netautod_register_executors(reg)",
        id="a misspelt argument",
    ),
]


@pytest.mark.parametrize(("source", "error"), BROKEN)
def test_a_broken_plugin_is_reported_and_the_others_load(
    installed: Installed, source: str, error: str
) -> None:
    installed.add("broken", source)
    installed.add("after", EXECUTOR.format(task_type="after"))
    installed.add("before", EXECUTOR.format(task_type="before"))
    manager = installed.manager()
    assert list(manager.executors()) == ["after", "before"]
    seen = errors(manager)
    assert (seen["after"], seen["before"]) == (None, None)
    assert error in str(seen["broken"])
    assert "\n" not in str(seen["broken"])


@pytest.mark.parametrize(("source", "error"), BROKEN)
def test_a_broken_required_plugin_is_fatal(installed: Installed, source: str, error: str) -> None:
    installed.add("broken", source)
    with pytest.raises(PluginError) as caught:
        installed.manager(required=["broken"])
    assert caught.value.text.startswith("the required plugin broken is not available: ")
    assert error in caught.value.text


def test_why_a_plugin_cannot_be_loaded_is_logged_when_the_plugins_are_asked(
    installed: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    """Not before: how to log is known only when the settings are read, with the plugins."""
    installed.add("broken", "1 / 0")
    installed.load()
    assert caplog.text == ""
    installed.manager()
    [record] = caplog.records
    assert record.getMessage() == "plugin broken cannot be loaded"
    assert "ZeroDivisionError: division by zero" in caplog.text


def test_a_required_plugin_that_is_missing_or_disabled_is_fatal(installed: Installed) -> None:
    installed.add("good", EXECUTOR.format(task_type="backup"))
    assert errors(installed.manager(required=["good"])) == {"good": None}
    text = "the required plugin {} is not available: it is not installed, or disabled"
    with pytest.raises(PluginError, match=text.format("other")):
        installed.manager(required=["good", "other"])
    with pytest.raises(PluginError, match=text.format("good")):
        installed.manager(required=["good"], disabled=["good"])


def test_a_disabled_plugin_is_not_even_imported(installed: Installed) -> None:
    installed.add("broken", "1 / 0")
    installed.add("good", EXECUTOR.format(task_type="backup"))
    manager = installed.manager(disabled=["broken", "not there"])
    assert errors(manager) == {"good": None}


def test_the_first_of_two_executors_for_one_type_stays(installed: Installed) -> None:
    second = installed.add("b", EXECUTOR.format(task_type="backup"))
    first = installed.add("a", EXECUTOR.format(task_type="backup"))
    manager = installed.manager()
    executor = manager.executors()["backup"]
    assert type(executor).__module__ == first != second
    assert errors(manager)["a"] is None
    assert "another plugin already registers an executor for backup" in str(errors(manager)["b"])


def test_a_second_plugin_of_the_same_name_does_not_drive_out_the_first(installed: Installed) -> None:
    first = installed.add("backup", EXECUTOR.format(task_type="backup"))
    installed.add("backup", EXECUTOR.format(task_type="backup"))
    manager = installed.manager(required=["backup"])
    assert type(manager.executors()["backup"]).__module__ == first
    assert [status.error for status in manager.statuses] == [
        None,
        "PluginError: another plugin has this name",
    ]


def test_a_registration_that_raises(installed: Installed) -> None:
    half = EXECUTOR.format(task_type="half") + "    raise RuntimeError('out of\\nluck')\n"
    installed.add("half", half)
    installed.add("whole", EXECUTOR.format(task_type="whole"))
    manager = installed.manager()
    assert "whole" in manager.executors()
    assert errors(manager) == {
        "half": "netautod_register_executors: RuntimeError: out of luck",
        "whole": None,
    }
    required = installed.manager(required=["half"])
    with pytest.raises(PluginError, match=r"the required plugin half is not available: .* out of luck"):
        required.executors()


def test_a_plugin_brings_a_platform(installed: Installed, repository_root: Path) -> None:
    generic = repository_root / "netautod" / "transport" / "ssh" / "platforms" / "generic.toml"
    head = 'name = "acme_os"\naliases = ["acme_switch"]\n'
    _, _, rest = generic.read_text().partition("]\n")
    names = '[names]\nnetbox = ["acme-campus"]\nnapalm = ["acme"]\n'
    (installed.folder / "acme_os.toml").write_text(
        f"{head}{rest}".replace("[prompts]", f"{names}[prompts]", 1)
    )
    installed.add("acme", PLATFORM)
    platforms = PlatformRegistry()
    installed.manager().register_platforms(platforms.register)
    assert platforms.get("acme_switch").name == "acme_os"
    assert {platforms.slugs[slug] for slug in ("acme-os", "acme-switch", "acme-campus", "acme")} == {
        "acme_os"
    }


@pytest.mark.parametrize(
    ("names", "error"),
    [
        pytest.param('netbox = ["ios"]', "the slug 'ios' is taken by 'cisco_ios'", id="taken"),
        pytest.param('netbox = ["Acme OS"]', "[names]: netbox must be slugs", id="no slug"),
        pytest.param('nautobot = ["acme"]', "unknown key 'nautobot'", id="an inventory that is none"),
    ],
)
def test_names_of_inventories_that_are_refused(
    installed: Installed, repository_root: Path, names: str, error: str
) -> None:
    text = (repository_root / "netautod" / "transport" / "ssh" / "platforms" / "generic.toml").read_text()
    _, _, rest = text.partition("]\n")
    (installed.folder / "acme_os.toml").write_text(f'name = "acme_os"\n{rest}\n[names]\n{names}\n')
    installed.add("acme", PLATFORM)
    manager = installed.manager()
    manager.register_platforms(PlatformRegistry().register)
    assert error in str(errors(manager)["acme"])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param(
            "name = 'acme_os'\n", "acme_os.toml: sources must be an array of strings", id="a faulty file"
        ),
        pytest.param(None, "acme_os.toml: No such file or directory", id="no file"),
    ],
)
def test_a_platform_that_cannot_be_used_marks_its_plugin(
    installed: Installed, text: str | None, error: str
) -> None:
    """The service starts without it, unless the plugin is required."""
    if text is not None:
        (installed.folder / "acme_os.toml").write_text(text)
    installed.add("acme", PLATFORM)
    manager = installed.manager()
    manager.register_platforms(PlatformRegistry().register)
    assert error in str(errors(manager)["acme"])
    with pytest.raises(PluginError, match="the required plugin acme is not available"):
        installed.manager(required=["acme"]).register_platforms(PlatformRegistry().register)


def test_the_built_in_plugins_are_found_and_work() -> None:
    manager = PluginManager(LoadedPlugins.load(table()))
    assert set(manager.executors()) >= {
        "agent_task",
        "backup",
        "custom_script",
        "deployment",
        "health_check",
    }
    brought: list[Path] = []
    manager.register_platforms(brought.append)
    assert brought == []
    assert [status.name for status in manager.statuses if not status.ok] == []


def test_what_the_executors_take_over_after_a_node_died() -> None:
    executors = PluginManager(LoadedPlugins.load(table())).executors()
    assert executors["backup"].idempotent
    assert not executors["agent_task"].idempotent
