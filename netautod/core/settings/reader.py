"""Reads the settings from file < environment < flags, and checks each value and the whole."""

import ipaddress
import tomllib
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netautod.app.settings import ENVIRONMENT_PREFIX, Setting, Settings, SettingsError, table
from netautod.auth.settings import check_ldap, check_oidc
from netautod.core.settings.webhook import check_webhook
from netautod.inventory.settings import check_inventory


def load(
    *,
    file: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None],
) -> Settings:
    """Settings from the file, over them the environment, over them the flags (`section.name` -> value).

    Raises SettingsError with one line that names the key. An unknown variable is only a warning.
    """
    rows = {row.key: row for row in table()}
    values: dict[str, Any] = {}
    if file is not None:
        values.update(_from_file(file, rows))
    values.update(_from_environment(environment, rows, warn))
    values.update({key: _checked(rows[key], value, f"flag for {key}") for key, value in flags.items()})
    settings = _assembled(values)
    _check_whole(settings)
    return settings


def _from_file(path: Path, rows: Mapping[str, Setting]) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read the settings file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    sections = {row.section for row in rows.values() if row.section}
    values: dict[str, Any] = {}
    for name, content in document.items():
        if name in sections and not isinstance(content, dict):
            raise SettingsError(f"{path}: {name} must be a section ([{name}])")
        entries = (
            {f"{name}.{key}": value for key, value in content.items()}
            if name in sections
            else {name: content}
        )
        for key, value in entries.items():
            if key not in rows:
                raise SettingsError(f"{path}: unknown setting {key}")
            values[key] = _checked(rows[key], value, f"{path}: {key}")
    return values


def _from_environment(
    environment: Mapping[str, str], rows: Mapping[str, Setting], warn: Callable[[str], None]
) -> dict[str, Any]:
    by_variable = {row.variable: row for row in rows.values()}
    values: dict[str, Any] = {}
    for name, text in sorted(environment.items()):
        if not name.startswith(ENVIRONMENT_PREFIX):
            continue
        row = by_variable.get(name)
        if row is None:
            warn(f"unknown environment variable {name} is ignored")
        else:
            values[row.key] = _checked(row, _parsed(row, text), name)
    return values


def _parsed(row: Setting, text: str) -> Any:
    """A variable's text as the TOML value it stands for; a wrong one stays text and is refused later."""
    if _is_list(row.type):
        return [part.strip() for part in text.split(",") if part.strip()]
    if row.type is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text)
    if row.type in (int, float):
        try:
            return row.type(text)
        except ValueError:
            return text
    return text


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple and not isinstance(kind, types.UnionType)


def _checked(row: Setting, value: Any, where: str) -> Any:
    if _is_list(row.type):
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise SettingsError(f"{where} must be a list of texts")
        return tuple(value)
    if row.type is Path:
        if not isinstance(value, str | Path) or not str(value):
            raise SettingsError(f"{where} must be a path")
        return Path(value).expanduser().absolute()
    if row.type is float and type(value) is int:
        value = float(value)
    if type(value) is not row.type:
        wanted = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[row.type]
        raise SettingsError(f"{where} must be {wanted}")
    if row.low is not None and not value >= row.low:
        raise SettingsError(f"{where} must be at least {row.low:g}")
    if row.high is not None and not value <= row.high:
        raise SettingsError(f"{where} must be at most {row.high:g}")
    return value


def _assembled(values: Mapping[str, Any]) -> Settings:
    grouped: dict[str, dict[str, Any]] = {}
    top: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (grouped.setdefault(section, {}) if section else top)[name] = value
    hints = typing.get_type_hints(Settings)
    return Settings(**top, **{section: hints[section](**entries) for section, entries in grouped.items()})


def _check_whole(settings: Settings) -> None:
    runs = settings.executions
    if not runs.heartbeat_seconds < runs.abandon_seconds < runs.lease_seconds:
        raise SettingsError("executions: heartbeat_seconds < abandon_seconds < lease_seconds must hold")
    uri = settings.mongodb.uri
    if uri and not uri.startswith(("mongodb://", "mongodb+srv://")):
        raise SettingsError("mongodb.uri must begin with mongodb:// or mongodb+srv://")
    if settings.log.level not in ("debug", "info", "warning", "error"):
        raise SettingsError("log.level must be debug, info, warning or error")
    if settings.log.format not in ("text", "json"):
        raise SettingsError("log.format must be text or json")
    for entry in settings.devices.linux_capture:
        if not entry.removeprefix("-").strip() or not entry.isprintable():
            raise SettingsError(f"devices.linux_capture: {entry!r} is not one line with a file or a command")
    check_ldap(settings.ldap)
    check_oidc(settings.oidc)
    check_inventory(settings.inventory)
    check_webhook(settings.webhook)
    if bool(settings.server.tls_certificate) != bool(settings.server.tls_key):
        raise SettingsError("server.tls_certificate and server.tls_key go together")
    for key, networks in (
        ("server.trusted_proxies", settings.server.trusted_proxies),
        ("outbound.allow", settings.outbound.allow),
    ):
        for network in networks:
            try:
                ipaddress.ip_network(network, strict=False)
            except ValueError as error:
                raise SettingsError(f"{key}: {network!r} is not an address or network") from error
