"""Commands of plugins: found when they are asked for, and what they raise is a line."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from netautod.cli import entry
from tests.support.guide import write_entry_point

SOURCE = """
from netautod.plugin_api import InvalidInput, NotFound, PluginCommand, hookimpl

RAISED = {
    "value": ValueError("two\\nlines"), "exit": SystemExit(5), "input": InvalidInput("WHAT: it is wrong"),
    "missing": NotFound("there is none"),
}

def add_arguments(parser):
    parser.add_argument("what")

async def run(context):
    what = context.arguments.what
    context.say(f"asked for {what}\\x1b[2J")
    if what in RAISED:
        raise RAISED[what]
    return {"one": 1, "text": "no", "large": 7}.get(what)

@hookimpl
def netautod_register_commands(register):
    register(PluginCommand(name="lab-do", help="do something", run=run, add_arguments=add_arguments))
"""
BROKEN = SOURCE.replace('name="lab-do"', 'name="user"')
Main = Callable[..., tuple[int, str, str]]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def add(source: str) -> None:
        folder = tmp_path / "site-packages"
        (folder / "lab_commands").mkdir(parents=True)
        (folder / "lab_commands" / "__init__.py").write_text(source)
        write_entry_point("lab_commands", folder)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "lab_commands", raising=False)

    return add


@pytest.fixture
def main(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Main:
    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = entry.main([*arguments, "--data-dir", str(tmp_path / "data")])
        except SystemExit as ended:
            code = int(str(ended.code))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("nothing", 0, ""),
        ("one", 1, ""),
        ("value", 1, "netautod: the plugin lab_commands failed: ValueError: two lines\n"),
        ("exit", 1, "netautod: the plugin lab_commands failed: SystemExit: 5\n"),
        ("input", 2, "netautod: WHAT: it is wrong\n"),
        ("missing", 1, "netautod: there is none\n"),
        (
            "text",
            1,
            "netautod: the plugin lab_commands failed: its command answered 'no', which is no exit code\n",
        ),
        (
            "large",
            1,
            "netautod: the plugin lab_commands failed: its command answered 7, which is no exit code\n",
        ),
    ],
)
def test_what_a_command_raises_is_one_line_and_an_exit_code(
    install: Callable[[str], None], main: Main, what: str, code: int, said: str
) -> None:
    install(SOURCE)
    assert main("lab-do", what) == (code, f"asked for {what}\\x1b[2J\n", said)


def test_its_help_is_that_of_our_commands(install: Callable[[str], None], main: Main) -> None:
    install(SOURCE)
    code, out, _ = main("lab-do", "--help")
    assert (code, out.startswith("usage: netautod lab-do [-h] [--config FILE]")) == (0, True)
    code, _, err = main("lab-do")
    assert (code, err.splitlines()[-1]) == (
        2,
        "netautod lab-do: error: the following arguments are required: what",
    )
    assert "command       netautod lab-do: do something\n" in main("plugins", "--details")[1]


def test_a_name_that_is_ours_is_refused_and_ours_goes_on(install: Callable[[str], None], main: Main) -> None:
    install(BROKEN)
    assert main("user", "--help")[1].startswith("usage: netautod user ")
    code, out, _ = main("plugins")
    assert (code, "netautod user is a command of the service itself" in out) == (1, True)
    code, _, err = main("lab-do")
    assert "not working, so without commands: lab_commands (netautod plugins says why)" in err
    assert (code, "invalid choice: 'lab-do'" in err) == (2, True)


def test_what_add_arguments_raises_is_a_line(install: Callable[[str], None], main: Main) -> None:
    install(SOURCE.replace('parser.add_argument("what")', 'parser.add_argument("--config")'))
    code, out, err = main("lab-do", "x")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("netautod: the plugin lab_commands failed: ArgumentError: ")


@pytest.mark.parametrize("arguments", [("--help",), ("openapi", "--help")])
def test_no_plugin_is_loaded_for_help(
    install: Callable[[str], None], main: Main, arguments: tuple[str, ...]
) -> None:
    install("raise AssertionError('loaded')")
    assert main(*arguments)[0] == 0
    assert "lab_commands" not in sys.modules
