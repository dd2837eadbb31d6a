"""The command `netautod`: reads the settings and runs the command that was asked for."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from netautod import __version__
from netautod.app.configuration import Configuration, load
from netautod.app.plugins.section_secrets import secrets_of
from netautod.app.settings import Settings
from netautod.cli import serve
from netautod.cli.output import complain
from netautod.cli.parsing import SETTINGS_FLAGS, Commands
from netautod.core import logs
from netautod.core.errors import InvalidInput, NetautodError
from netautod.core.redaction.known_secrets import KNOWN
from netautod.core.settings.field import SettingsError

DEFAULT_FILES = (Path("/etc/netautod/netautod.toml"),)
# In the order of `netautod --help`, with the modules that add them. Only the one of the command that is asked
# for is loaded: together they take 50 MB, which the process that watches the service would keep.
COMMANDS = {
    "serve": "serve",
    "check-config": "check_config",
    "doctor": "doctor",
    "plugins": "plugins",
    "platform": "platforms",
    "openapi": "openapi",
    "import": "imports",
    "import-configs": "import_configs",
    "export-configs": "export_configs",
    "backup": "backup",
    "restore": "restore",
    "rotate-keys": "keys",
    "secret": "secrets",
    "sync": "sync",
    "user": "users",
    "org": "organizations",
    "audit": "audit",
    "agent": "agents",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong call or wrong settings."""
    given = sys.argv[1:] if arguments is None else arguments
    parsed = _parser(given).parse_args(given)
    if hasattr(parsed, "without_settings"):
        return _without_settings(parsed)
    try:
        configuration = _configuration(parsed)
    except SettingsError as error:
        return _say(error.text, 2)
    settings = configuration.settings
    KNOWN.add(secret for name, section in settings.of_plugins.items() for secret in secrets_of(name, section))
    logs.configure(level=_log_level(parsed, settings), format=settings.log.format)
    try:
        result: int = parsed.run(parsed, configuration)
    except (InvalidInput, SettingsError) as error:
        return _say(error.text, 2)
    except NetautodError as error:
        return _say(error.text, 1)
    except KeyboardInterrupt:
        return 130
    return result


def _without_settings(parsed: argparse.Namespace) -> int:
    """A command for authors of plugins: they have no installation, and their own may be broken."""
    try:
        code: int = parsed.without_settings(parsed)
    except InvalidInput as error:
        return _say(error.text, 2)
    return code


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """For these arguments: it knows their command, or all of them if they begin with none."""
    parser = argparse.ArgumentParser(prog="netautod", description="A self-hosted network-automation service.")
    parser.add_argument("--version", action="version", version=f"netautod {__version__}")
    commands = Commands(parser)
    asked = [name for name in arguments[:1] if name in COMMANDS]
    for name in asked or COMMANDS:
        import_module(f"netautod.cli.{COMMANDS[name]}").add(commands)
    return parser


def _configuration(parsed: argparse.Namespace) -> Configuration:
    file = Path(parsed.config) if parsed.config else next((f for f in DEFAULT_FILES if f.exists()), None)
    given = {key: getattr(parsed, name, None) for name, key in SETTINGS_FLAGS.items()}
    flags = {key: value for key, value in given.items() if value is not None}
    return load(
        file=file,
        environment=os.environ,
        flags=flags,
        warn=complain,
    )


def _log_level(parsed: argparse.Namespace, settings: Settings) -> str:
    """Info lines, which the service logs, would hide the output of a command."""
    quiet = parsed.run is not serve.run and settings.log.level == "info"
    return "warning" if quiet else settings.log.level


def _say(text: str, code: int) -> int:
    complain(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
