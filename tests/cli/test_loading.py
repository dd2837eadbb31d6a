"""What the processes of the service load: memory that an idle installation would hold for nothing."""

import subprocess
import sys

import pytest

from netautod.cli.entry import main
from netautod.cli.parsing import COMMANDS

READ = """
import sys
from netautod.cli import entry
given = ["serve"]
entry._configuration(entry._parser(given).parse_args(given))
"""
SERVE = "import netautod.server.server, netautod.server.supervisor"
TOLD = "print(*sys.modules, sep='\\n')"


def loaded(*lines: str) -> set[str]:
    run = [sys.executable, "-c", "\n".join(lines)]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_the_process_that_watches_loads_the_settings_and_no_service() -> None:
    found = loaded(READ, TOLD)
    assert {"netautod.server.watch.parent", "netautod_ldap", "netautod_snmp"} <= found
    assert found.isdisjoint({"pymongo", "asyncssh", "tornado.web", "netautod.server.server"})


def test_the_process_that_serves_loads_what_few_need_when_they_do() -> None:
    found = loaded(READ, SERVE, TOLD)
    assert {
        "pymongo",
        "asyncssh",
        "netautod.identity.users.passwords.policy",
        "netautod.transport.ssh.channel_opening",
    } <= found
    assert found.isdisjoint(
        {"markdown_it", "zxcvbn", "ldap3", "joserfc", "telnetlib3", "jinja2", "netutils", "netautod.testing"}
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_added_by_its_module(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: netautod {name} ")


def test_help_names_the_commands_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    assert [words[0] for words in lines if words[0] in COMMANDS] == list(COMMANDS)
