"""Settings: precedence, refusals in one line that names the key, and the file that lists the whole table."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.configuration import load
from netautod.assembly.settings import Settings
from netautod.assembly.settings import table as core_table
from netautod.cli import entry as cli
from netautod.core.settings.table import Setting, rows_of
from netautod.plugin_host.loading.loader import LoadedPlugins


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("NETAUTOD_") or name in ("STATE_DIRECTORY", "XDG_DATA_HOME"):
            monkeypatch.delenv(name)


def table() -> Iterator[Setting]:
    """Yield the settings of the service, then those of the built-in plugins."""
    yield from core_table()
    for name, declared in LoadedPlugins.load(core_table()).sections.items():
        yield from rows_of(name, declared)


def loaded(
    file: Path | None = None, environment: dict[str, str] | None = None, **flags: Any
) -> tuple[Settings, list[str]]:
    warnings: list[str] = []
    configuration = load(
        file=file,
        environment=environment or {},
        flags={key.replace("__", "."): value for key, value in flags.items()},
        warn=warnings.append,
    )
    return configuration.settings, warnings


def value_of(settings: Settings, key: str) -> Any:
    found: Any = settings
    for name in key.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize(
    ("file", "environment", "flags", "port"),
    [
        pytest.param("", {}, {}, 8080, id="the default where nothing is said"),
        pytest.param("[server]\nport = 1", {}, {}, 1, id="the file over the default"),
        pytest.param(
            "[server]\nport = 1", {"NETAUTOD_SERVER_PORT": "2"}, {}, 2, id="the environment over the file"
        ),
        pytest.param(
            "[server]\nport = 1",
            {"NETAUTOD_SERVER_PORT": "2"},
            {"server__port": 3},
            3,
            id="a flag over the environment",
        ),
        pytest.param("[server]\nport = 1", {}, {"server__port": 0}, 0, id="a flag of zero counts"),
    ],
)
def test_precedence(
    tmp_path: Path, file: str, environment: dict[str, str], flags: dict[str, Any], port: int
) -> None:
    path = tmp_path / "netautod.toml"
    path.write_text(file)
    assert loaded(path, environment, **flags)[0].server.port == port


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("NETAUTOD_DATA_DIR", "/srv/data", "data_dir", Path("/srv/data")),
        ("NETAUTOD_SERVER_HOST", "0.0.0.0", "server.host", "0.0.0.0"),
        ("NETAUTOD_SERVER_PORT", "0", "server.port", 0),
        ("NETAUTOD_MONGODB_URI", "mongodb://db/?replicaSet=rs", "mongodb.uri", "mongodb://db/?replicaSet=rs"),
        ("NETAUTOD_ADMIN_PASSWORD", "a long secret", "admin_password", "a long secret"),
        ("NETAUTOD_MASTER_KEY_FILE", "/run/key", "master_key_file", "/run/key"),
        ("NETAUTOD_OUTBOUND_ALLOW", "10.0.0.0/8, ::1,", "outbound.allow", ("10.0.0.0/8", "::1")),
        ("NETAUTOD_SERVER_BEHIND_PROXY", "True", "server.behind_proxy", True),
        ("NETAUTOD_EXECUTIONS_LEASE_SECONDS", "60", "executions.lease_seconds", 60.0),
        ("NETAUTOD_PLUGINS_DISABLED", "agent", "plugins.disabled", ("agent",)),
    ],
)
def test_environment_names(variable: str, text: str, key: str, value: Any) -> None:
    settings, warnings = loaded(None, {variable: text})
    assert value_of(settings, key) == value
    assert warnings == []


def test_every_setting_has_its_own_variable_and_a_help_sentence() -> None:
    rows = list(table())
    variables = [row.variable for row in rows]
    assert len(set(variables)) == len(variables)
    assert [row.key for row in rows if not re.fullmatch(r"\S.*\.", row.help)] == []


def test_the_admin_password_is_not_in_a_trace() -> None:
    settings, _ = loaded(None, {"NETAUTOD_ADMIN_PASSWORD": "a long secret"})
    assert "a long secret" not in repr(settings)


def test_an_unknown_variable_is_only_a_warning() -> None:
    settings, warnings = loaded(None, {"NETAUTOD_SERVER_PROT": "1", "OTHER": "2"})
    assert settings == loaded()[0]
    assert warnings == ["unknown environment variable NETAUTOD_SERVER_PROT is ignored"]


def test_a_relative_data_dir_is_taken_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert loaded(data_dir="data")[0].data_dir == tmp_path / "data"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert loaded(data_dir="~/data")[0].data_dir == tmp_path / "home" / "data"


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"STATE_DIRECTORY": "/var/lib/netautod:/var/lib/other"}, "/var/lib/netautod"),
        ({"XDG_DATA_HOME": "/home/ann/data"}, "/home/ann/data/netautod"),
        ({"HOME": "/home/ann"}, "/home/ann/.local/share/netautod"),
    ],
    ids=["under systemd", "with XDG", "at home"],
)
def test_the_default_data_dir(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert loaded()[0].data_dir == Path(folder)


WRONG_FILES = [
    pytest.param("nonsense = 1", "unknown setting nonsense", id="an unknown key"),
    pytest.param("[server]\nprot = 1", "unknown setting server.prot", id="an unknown key of a section"),
    pytest.param("[sever]\nport = 1", "unknown setting sever", id="an unknown section"),
    pytest.param("[server.tls]\nkey = 1", "unknown setting server.tls", id="a section in a section"),
    pytest.param("server = 8080", "server must be a section", id="a value where a section stands"),
    pytest.param("[server", "is not valid TOML", id="no TOML"),
    pytest.param("data_dir = 7", "data_dir must be a path", id="a number for a path"),
    pytest.param('[server]\nport = "80"', "server.port must be a whole number", id="a text for a number"),
    pytest.param("[server]\nport = true", "server.port must be a whole number", id="true for a number"),
    pytest.param("[server]\nport = 65536", "server.port must be at most 65535", id="over the range"),
    pytest.param("[server]\nport = -1", "server.port must be at least 0", id="under the range"),
    pytest.param("[server]\nhost = 1", "server.host must be a text", id="a number for a text"),
    pytest.param("[server]\nbehind_proxy = 1", "behind_proxy must be true or false", id="one for true"),
    pytest.param("[server]\nidle_timeout = nan", "idle_timeout must be at least 0.1", id="not a number"),
    pytest.param('[outbound]\nallow = "::1"', "outbound.allow must be a list of texts", id="no list"),
    pytest.param('[outbound]\nallow = ["x y"]', "'x y' is not an address or network", id="no address"),
    pytest.param('[devices]\nlinux_capture = ["-"]', "'-' is not one line with a file", id="nothing to read"),
    pytest.param('[devices]\nlinux_capture = ["ip\\n"]', "is not one line with a file", id="two lines"),
    pytest.param('[mongodb]\nuri = "db1:27017"', "mongodb.uri must begin with mongodb://", id="no URI"),
    pytest.param(
        '[inventory]\ndevice_types = ["ios=Cisco IOS"]',
        "not of the form slug=device_type",
        id="no device type",
    ),
    pytest.param('[log]\nlevel = "loud"', "log.level must be debug, info", id="an unknown level"),
    pytest.param('[log]\nformat = "xml"', "log.format must be text or json", id="an unknown format"),
    pytest.param('[server]\ntls_key = "k"', "go together", id="a TLS key without a certificate"),
    pytest.param(
        "[executions]\nlease_seconds = 15", "abandon_seconds < lease_seconds must hold", id="a short lease"
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG_FILES)
def test_a_wrong_file_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "netautod.toml"
    path.write_text(text)
    assert cli.main(["check-config", "--config", str(path)]) == 2
    assert message in one_line(capsys)


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("NETAUTOD_SERVER_PORT", "http", "NETAUTOD_SERVER_PORT must be a whole number"),
        ("NETAUTOD_SERVER_PORT", "", "NETAUTOD_SERVER_PORT must be a whole number"),
        ("NETAUTOD_SERVER_PORT", "70000", "NETAUTOD_SERVER_PORT must be at most 65535"),
        ("NETAUTOD_SERVER_BEHIND_PROXY", "perhaps", "NETAUTOD_SERVER_BEHIND_PROXY must be true or false"),
        ("NETAUTOD_SCHEDULER_SCAN_SECONDS", "fast", "NETAUTOD_SCHEDULER_SCAN_SECONDS must be a number"),
        ("NETAUTOD_DATA_DIR", "", "NETAUTOD_DATA_DIR must be a path"),
    ],
)
def test_a_wrong_variable_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    text: str,
    message: str,
) -> None:
    monkeypatch.setenv(variable, text)
    assert cli.main(["serve"]) == 2
    assert message in one_line(capsys)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "70000"], "flag for server.port must be at most 65535"),
        (["--data-dir", ""], "flag for data_dir must be a path"),
        (["--mongodb-uri", "localhost"], "mongodb.uri must begin with mongodb://"),
        (["--config", "/nowhere/netautod.toml"], "cannot read the settings file /nowhere/netautod.toml"),
        (["--config", "/"], "cannot read the settings file /"),
    ],
)
def test_a_wrong_flag_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], flags: list[str], message: str
) -> None:
    assert cli.main(["serve", *flags]) == 2
    assert message in one_line(capsys)


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert len(lines) == 1
    assert lines[0].startswith("netautod: ")
    return lines[0]


def test_the_settings_file_lists_the_whole_table(repository_root: Path) -> None:
    text = (repository_root / "config" / "netautod.toml").read_text()
    head, _, listed = text.partition("\n\n")
    assert all(line.startswith("# ") for line in head.splitlines())
    assert listed.splitlines() == list(rendered())


def rendered() -> Iterator[str]:
    """Yield the lines of the settings file without its head, as the table prescribes them."""
    section = ""
    for row in table():
        if row.section != section:
            section = row.section
            yield from ("", f"[{section}]")
        yield f"# {row.help}"
        yield f"# {row.name} = {toml(row.default)}"


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Path):
        return f'"~/{value.relative_to(Path.home())}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_the_settings_file_loads_to_the_defaults(tmp_path: Path, repository_root: Path) -> None:
    shipped = repository_root / "config" / "netautod.toml"
    assert loaded(shipped) == loaded()
    path = tmp_path / "netautod.toml"
    path.write_text(re.sub(r"(?m)^# (\w+ = )", r"\1", shipped.read_text()))
    assert len(re.findall(r"(?m)^\w+ = ", path.read_text())) == len(list(table()))
    assert loaded(path) == loaded()
