"""The command `netautod`: reads the settings and runs the command that was called."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from netautod import __version__
from netautod.assembly.configuration import Configuration, load
from netautod.assembly.settings import Settings
from netautod.cli import serve
from netautod.cli.output import READER_GONE, complain, drop_output, is_reader_gone
from netautod.cli.parsing import COMMANDS, SETTINGS_FLAGS, Commands, settings_flags
from netautod.core.errors import InvalidInput, NetautodError
from netautod.core.logs import setup as logs
from netautod.core.settings.field import SettingsError
from netautod.plugin_host.sections.secrets import secrets_of
from netautod.secrets.redaction.known_secrets import KNOWN, hide_in_log

DEFAULT_FILES = (Path("/etc/netautod/netautod.toml"),)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong call or wrong settings, 141 for output that was not read to its
    end.
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        parsed, configuration = _parse(given)
        result: int = parsed.run(parsed, configuration) if configuration else parsed.without_settings(parsed)
        sys.stdout.flush()
    except (InvalidInput, SettingsError) as error:
        return _say(error.text, 2)
    except NetautodError as error:
        return _say(error.text, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        if not is_reader_gone():
            raise
        drop_output()
        return READER_GONE
    return result


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, Configuration | None]:
    """Parse the arguments. The settings are read first where the command may be one of a plugin; those for
    authors read none.
    """
    if not arguments or arguments[0].startswith("-") or arguments[0] in COMMANDS:
        parsed = _parser(arguments).parse_args(arguments)
        return parsed, None if hasattr(parsed, "without_settings") else _configure(parsed)
    configuration = _configure(settings_flags().parse_known_args(arguments[1:])[0])
    of_plugins = import_module("netautod.cli.plugins.commands")
    parser = of_plugins.parser_of(arguments[0], configuration, taken=COMMANDS) or _parser(arguments)
    return parser.parse_args(arguments), configuration


def _configure(parsed: argparse.Namespace) -> Configuration:
    configuration = _configuration(parsed)
    settings = configuration.settings
    KNOWN.add(secret for name, section in settings.of_plugins.items() for secret in secrets_of(name, section))
    logs.configure(level=_log_level(parsed, settings), format=settings.log.format, hide=hide_in_log)
    return configuration


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser for these arguments: it knows their command, or all of them if they begin with none."""
    parser = argparse.ArgumentParser(
        prog="netautod",
        description="A self-hosted network-automation service.",
        epilog="Plugins may bring more commands: netautod plugins --details lists them.",
    )
    parser.add_argument("--version", action="version", version=f"netautod {__version__}")
    commands = Commands(parser)
    named = [name for name in arguments[:1] if name in COMMANDS]
    for name in named or COMMANDS:
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
    """Return the log level: info lines, which the service logs, would hide the output of a command."""
    quiet = getattr(parsed, "run", None) is not serve.run and settings.log.level == "info"
    return "warning" if quiet else settings.log.level


def _say(text: str, code: int) -> int:
    complain(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
