"""The plugin of the guide, installed: its own tests, its settings in every command, a run in the service."""

import inspect
import re
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from netautod import plugin_api, testing
from netautod.assembly.configuration import load
from netautod.cli import entry as cli
from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.guide import guide, write_entry_point, write_example
from tests.support.programs.service import serving

TESTS = (
    "test_the_answers_are_the_output",
    "test_over_ssh",
    "test_a_run_without_answers_is_tried_again",
    "test_an_executor_that_blocks",
    "test_the_rows_of_a_device",
    "test_a_tool_of_agents",
    "test_what_is_refused",
)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the plugin is installed; this process sees it, too."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    write_example("my_plugin", "test_my_plugin", folder)
    write_entry_point("my_plugin", folder)
    monkeypatch.syspath_prepend(folder)
    for name in list(sys.modules):
        if name.partition(".")[0] in ("my_plugin", "test_my_plugin"):
            monkeypatch.delitem(sys.modules, name)
    return folder


@pytest.fixture
def its_tests(installed: Path) -> ModuleType:
    return import_module("test_my_plugin")


@pytest.mark.parametrize("name", TESTS)
async def test_the_tests_of_the_example_pass(its_tests: ModuleType, name: str) -> None:
    await cast("Callable[[], Awaitable[None]]", getattr(its_tests, name))()


def test_no_test_of_the_example_is_forgotten(its_tests: ModuleType) -> None:
    found = [name for name, value in vars(its_tests).items() if inspect.iscoroutinefunction(value)]
    assert sorted(name for name in found if name.startswith("test_")) == sorted(TESTS)


Main = Callable[..., tuple[int, str, str]]


@pytest.fixture
def main(installed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Main:
    """Return a function that runs a command: `code, out, err = main("check-config", file)`."""

    def run(command: str, file: str = "") -> tuple[int, str, str]:
        path = tmp_path / "netautod.toml"
        path.write_text(file)
        path.chmod(0o600)
        code = cli.main([command, "--config", str(path)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err.replace(f"{path}", "FILE")

    return run


def test_it_is_listed(main: Main) -> None:
    code, out, _ = main("plugins")
    assert (code, re.findall(r"(?m)^my_plugin +1\.2 +ok$", out)) == (
        0,
        ["my_plugin            1.2        ok"],
    )


@pytest.mark.parametrize(
    ("file", "message"),
    [
        pytest.param("at_once = 0", "FILE: my_plugin.at_once must be at least 1", id="under the bound"),
        pytest.param('at_once = "1"', "FILE: my_plugin.at_once must be a whole number", id="another type"),
        pytest.param("at_one = 1", "FILE: unknown setting my_plugin.at_one", id="a typo"),
        pytest.param(
            'url = "https://x"', "my_plugin.token must be set with my_plugin.url", id="what its check says"
        ),
    ],
)
@pytest.mark.parametrize("command", ["check-config", "serve", "openapi"])
def test_wrong_settings_of_a_plugin_are_one_line_and_exit_code_2(
    main: Main, command: str, file: str, message: str
) -> None:
    assert main(command, f"[my_plugin]\n{file}\n") == (2, "", f"netautod: {message}\n")


def test_a_wrong_variable_of_a_plugin(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETAUTOD_MY_PLUGIN_AT_ONCE", "many")
    message = "netautod: NETAUTOD_MY_PLUGIN_AT_ONCE must be a whole number\n"
    assert main("check-config") == (2, "", message)


def test_good_settings_of_a_plugin(main: Main, tmp_path: Path) -> None:
    section = '[my_plugin]\nat_once = 3\nurl = "https://x"\ntoken = "canary"\n'
    code, out, err = main("check-config", section)
    assert (code, out) == (0, "the settings are valid\n")
    assert err.startswith("netautod: warning: secret-in-settings-file: ")
    assert "my_plugin.token" in err
    configuration = load(
        file=tmp_path / "netautod.toml",
        environment={"NETAUTOD_MY_PLUGIN_AT_ONCE": "4", "NETAUTOD_MY_PLUGIN_AT_ONE": "5"},
        flags={},
        warn=(warnings := list[str]()).append,
    )
    settings = configuration.settings
    mine = settings.of_plugins["my_plugin"]
    assert (mine.at_once, mine.url, mine.token, mine.journal) == (4, "https://x", "canary", "")
    assert "canary" not in repr(settings)
    assert warnings == ["unknown environment variable NETAUTOD_MY_PLUGIN_AT_ONE is ignored"]


def test_the_section_of_a_disabled_plugin_is_not_looked_at(
    main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETAUTOD_MY_PLUGIN_AT_ONCE", "many")
    disabled = '[plugins]\ndisabled = ["my_plugin"]\n[my_plugin]\nat_once = 0\nno = "such key"\n'
    assert main("check-config", disabled) == (0, "the settings are valid\n", "")


def test_the_section_of_a_plugin_that_cannot_be_loaded_is_a_warning(main: Main, installed: Path) -> None:
    (installed / "my_plugin" / "__init__.py").write_text("import no_such_module\n")
    code, out, err = main("check-config", "[my_plugin]\nat_once = 0\n")
    message = "netautod: FILE: the section my_plugin is ignored: the plugin cannot be loaded\n"
    assert (code, out, err) == (0, "the settings are valid\n", message)
    assert main("check-config", "[another]\n") == (2, "", "netautod: FILE: unknown setting another\n")


def test_a_plugin_is_loaded_once_and_its_failure_is_logged_once(
    main: Main,
    installed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(
        "netautod.core.logs.setup.configure", lambda **_: None
    )  # it would take caplog's handler
    imports = tmp_path / "imports"
    noting = f"with open({str(imports)!r}, 'a') as file: file.write('imported ')"
    source = f"{noting}\nimport no_such_module\n"
    (installed / "my_plugin" / "__init__.py").write_text(source)
    code, out, _ = main("plugins")
    assert (code, re.findall(r"(?m)^my_plugin +1\.2 +(.*)$", out)) == (
        1,
        ["ModuleNotFoundError: No module named 'no_such_module'"],
    )
    assert [record.getMessage() for record in caplog.records] == ["plugin my_plugin cannot be loaded"]
    assert imports.read_text() == "imported "


async def test_in_the_service(installed: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    variables = {"PYTHONPATH": str(installed), "NETAUTOD_MY_PLUGIN_JOURNAL": str(journal)}
    async with (
        SimulatedDevice(hostname="sw1", responses={"show uptime": "3 days\n"}) as switch,
        serving(tmp_path / "data", variables=variables) as service,
    ):
        console = Console(client=await service.client())
        credential = await console.credential("lab")
        await console.device("sw1", switch.port, default_credential_id=credential)
        wrong = {"name": "wrong", "task_type": "ask", "cron_expression": "0 0 1 1 *"}
        refused = await console.client.post("/api/tasks/schedules", wrong)
        assert (refused.status, "command" in refused.json["error"]) == (400, True)
        task = await console.task("uptimes", "ask", parameters={"command": "show uptime"})
        done = await console.run(task)
        assert (done["state"], done["output"]) == ("completed", {"sw1": "3 days"})
    assert journal.read_text() == "uptimes completed\n"  # at the latest when the service has stopped


@pytest.mark.parametrize(
    ("public", "name"),
    [
        *(pytest.param(plugin_api, name, id=f"plugin_api.{name}") for name in plugin_api.__all__),
        *(pytest.param(testing, name, id=f"testing.{name}") for name in testing.__all__),
    ],
)
def test_every_public_name_says_what_it_is(public: ModuleType, name: str) -> None:
    shown = getattr(public, name)
    message = vars(shown).get("__doc__") if inspect.isclass(shown) else inspect.getdoc(shown)
    of_its_own = isinstance(message, str) and not message.startswith(f"{name}(")  # of a dataclass
    assert of_its_own or name in re.findall(r"\w+", guide())
