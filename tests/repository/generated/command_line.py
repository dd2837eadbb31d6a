"""The page of the command line, from the parsers of the commands."""

import argparse
from collections.abc import Iterator
from importlib import import_module

from netautod.cli.parsing import COMMANDS, Commands, settings_flags
from netautod.plugin_host.offers import offers
from tests.repository.generated.installation import plugins
from tests.repository.generated.markdown import code, page, prose, table

COMMON = {action.dest for action in settings_flags()._actions}


def command_line() -> str:
    return page(
        "Command line",
        "Look up a command here, its arguments and its options. Every command has `--help`. Exit codes are 0 "
        "(done), 1 (failed) and 2 (wrong call or wrong settings).",
        "## Options of every command that reads the settings",
        _arguments(settings_flags(), all_of_them=True),
        *(_command(parser) for parser in _own()),
        *(_command(parser, plugin=plugin) for plugin, parser in _of_plugins()),
    )


def _own() -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of each command, and of those inside a group, in the order of `netautod --help`."""
    root = argparse.ArgumentParser(prog="netautod")
    commands = Commands(root)
    for module in COMMANDS.values():
        import_module(f"netautod.cli.{module}").add(commands)
    yield from _inside(root)


def _inside(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for name, inner in action.choices.items():
                inner.description = inner.description or helps.get(name)
                if inner.get_default("run") or inner.get_default("without_settings"):
                    yield inner
                yield from _inside(inner)


def _of_plugins() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name, offered in sorted(offers.commands_of(plugins(), COMMANDS).items()):
        parser = argparse.ArgumentParser(prog=f"netautod {name}", description=offered.command.help)
        offered.command.add_arguments(parser)
        yield offered.plugin, parser


def _command(parser: argparse.ArgumentParser, *, plugin: str = "") -> str:
    sentence = prose(parser.description or "").rstrip(".")
    of = f" The plugin `{plugin}` brings it." if plugin else ""
    parts = [f"## {parser.prog}", f"{sentence[:1].upper()}{sentence[1:]}.{of}", _arguments(parser)]
    return "\n\n".join(part for part in parts if part)


def _arguments(parser: argparse.ArgumentParser, *, all_of_them: bool = False) -> str:
    hidden = {"help"} if all_of_them else {"help", *COMMON}
    shown = [
        action
        for action in parser._actions
        if action.dest not in hidden
        and action.help != argparse.SUPPRESS
        and not isinstance(action, argparse._SubParsersAction)
    ]
    rows = [(code(_spelled(action)), _meaning(action)) for action in shown]
    return table(("Argument", "Meaning"), rows) if rows else ""


def _spelled(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if action.choices is not None and action.metavar is None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return {"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} ..."}.get(str(action.nargs), value)
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


def _meaning(action: argparse.Action) -> str:
    needed = "required" if action.required and action.option_strings else ""
    default = action.default
    known = f"default: {default}" if type(default) in (int, float, str) and default else ""
    if "default" in (action.help or ""):
        known = ""
    return prose("; ".join(filter(None, [action.help or "", needed, known])))
