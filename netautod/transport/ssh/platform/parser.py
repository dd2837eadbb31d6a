"""The parser of one TOML definition into a Platform; a faulty file is refused with the place and the
problem.
"""

import re
from importlib.resources.abc import Traversable

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.platform import toml_file as platform_file
from netautod.transport.ssh.platform.change_parser import read_change
from netautod.transport.ssh.platform.model import (
    CaptureItem,
    EnableDialog,
    InventoryNames,
    LoginAnswer,
    LoginDialog,
    Part,
    Platform,
    SecretPattern,
)
from netautod.transport.ssh.read_only.grammar import ReadOnlyGrammar


def load_platform(path: Traversable) -> Platform:
    """Read and check one TOML definition. InvalidInput names the file, the table and the key."""
    table = platform_file.read(path)
    prompts = table.table("prompts")
    session = table.table("session")
    enable = table.table("enable") if table.has("enable") else None
    capture = table.table("capture")
    noise = table.table("noise")
    redaction = table.table("redaction")
    read_only = _read_only(table.table("read_only"))
    platform = Platform(
        name=table.text("name"),
        aliases=table.texts("aliases"),
        names=_names(table.table("names")),
        sources=table.texts("sources", required=True),
        channel="exec" if table.choice("channel", ("shell", "exec")) == "exec" else "shell",
        prompts={mode: prompts.pattern(mode, groups=("host",)) for mode in prompts.names()},
        prompt_heads=session.patterns("prompt_heads"),
        enter=session.optional_text("enter") or "\n",
        login_suffix=session.optional_text("login_suffix") or "",
        login=_login(table.table("login")) if table.has("login") else None,
        login_answers=tuple(_answer(item) for item in session.tables("login_answers", required=False)),
        capture_mode=session.optional_text("capture_mode"),
        paging_off=session.texts("paging_off"),
        width=session.texts("width"),
        pager=session.patterns("pager"),
        pager_key=session.optional_text("pager_key") or " ",
        pager_end=session.patterns("pager_end"),
        pager_end_key=session.optional_text("pager_end_key") or "q",
        questions=session.patterns("questions"),
        log_lines=session.patterns("log_lines"),
        enable=None if enable is None else _enable(enable),
        change=read_change(table.table("change"), reading=read_only.forms) if table.has("change") else None,
        capture=tuple(_item(item) for item in capture.tables("items")),
        parts=tuple(_part(item) for item in table.tables("parts", required=False)),
        end_marker=capture.optional_pattern("end_marker"),
        must_contain=capture.line_patterns("must_contain"),
        own=capture.line_patterns("own"),
        smallest=capture.number("smallest", default=1),
        failures=capture.patterns("failures"),
        gaps=capture.patterns("gaps"),
        noise_lines=noise.patterns("lines"),
        noise_parts=noise.patterns("parts"),
        secrets=tuple(_secret(item) for item in table.tables("secrets", required=False)),
        visible=redaction.patterns("visible", groups=("visible",)),
        read_only=read_only,
    )
    _check(platform, path.name)
    for part in (table, prompts, session, capture, noise, redaction):
        part.refuse_unknown()
    return platform


def _names(table: platform_file.TomlTable) -> InventoryNames:
    names = InventoryNames(netbox=table.texts("netbox"), napalm=table.texts("napalm"))
    if any(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", slug) is None for slug in names.netbox):
        raise table.wrong("netbox must be slugs of a-z and 0-9 with single dashes between")
    if any(re.fullmatch(r"[a-z0-9_]{1,64}", driver) is None for driver in names.napalm):
        raise table.wrong("napalm must be names of drivers, of a-z, 0-9 and _")
    table.refuse_unknown()
    return names


def _enable(table: platform_file.TomlTable) -> EnableDialog:
    dialog = EnableDialog(
        command=table.text("command"),
        password_prompt=table.pattern("password_prompt"),
        user_prompt=table.optional_pattern("user_prompt"),
    )
    table.refuse_unknown()
    return dialog


def _login(table: platform_file.TomlTable) -> LoginDialog:
    dialog = LoginDialog(
        password_prompt=table.pattern("password_prompt"),
        user_prompt=table.optional_pattern("user_prompt"),
    )
    table.refuse_unknown()
    return dialog


def _answer(table: platform_file.TomlTable) -> LoginAnswer:
    answer = LoginAnswer(pattern=table.pattern("pattern"), answer=table.text("answer"))
    table.refuse_unknown()
    return answer


def _read_only(table: platform_file.TomlTable) -> ReadOnlyGrammar:
    """Return the platform's own forms; the registry, which has all platforms, adds those that `like`
    names.
    """
    grammar = ReadOnlyGrammar(
        like=table.optional_text("like"),
        forms=table.texts("forms"),
        filters=table.texts("filters"),
        pipes=table.number("pipes", default=1) if table.has("pipes") else None,
        exact=table.flag("exact"),
        slashes=table.flag("slashes"),
    )
    try:
        grammar.verify()
    except InvalidInput as exc:
        raise table.wrong(str(exc)) from exc
    table.refuse_unknown()
    return grammar


def _item(table: platform_file.TomlTable) -> CaptureItem:
    item = CaptureItem(
        command=table.optional_text("command"),
        file=table.optional_text("file"),
        alternatives=table.texts("alternatives"),
        optional=table.flag("optional"),
    )
    if (item.command is None) == (item.file is None):
        raise table.wrong("needs either a command or a file")
    if item.alternatives and item.command is None:
        raise table.wrong("alternatives need a command")
    table.refuse_unknown()
    return item


def _part(table: platform_file.TomlTable) -> Part:
    part = Part(
        name=table.text("name"),
        command=table.text("command"),
        alternatives=table.texts("alternatives"),
        difference=table.flag("difference"),
        noise_lines=table.patterns("noise_lines"),
        noise_parts=table.patterns("noise_parts"),
    )
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", part.name) is None:
        raise table.wrong("name must consist of a-z, 0-9, - and _, 40 at most")
    table.refuse_unknown()
    return part


def _secret(table: platform_file.TomlTable) -> SecretPattern:
    shown = table.choice("shown", ("stable", "resalted"))
    secret = SecretPattern(
        pattern=table.pattern("pattern", groups=("secret",)),
        shown="stable" if shown == "stable" else "resalted",
        until=table.optional_pattern("until"),
    )
    table.refuse_unknown()
    return secret


def _check(platform: Platform, file_name: str) -> None:
    """Check what a single key cannot show to be wrong."""
    try:
        _ = (platform.any_noise_line, platform.any_noise_part, platform.any_secret, platform.any_long_secret)
    except re.error as exc:  # each is good alone, but together they are not: (?i) instead of (?i:...), \\1
        raise InvalidInput(f"{file_name}: the patterns of noise or secrets do not combine: {exc}") from exc
    if re.fullmatch(r"[a-z0-9_]+", platform.name) is None:
        raise InvalidInput(f"{file_name}: name must consist of a-z, 0-9 and _")
    if platform.channel == "shell" and not platform.prompts:
        raise InvalidInput(f"{file_name}: a shell platform needs at least one prompt")
    if platform.capture_mode is not None and platform.capture_mode not in platform.prompts:
        raise InvalidInput(f"{file_name}: [session] capture_mode names no mode of [prompts]")
    if len({part.name for part in platform.parts}) < len(platform.parts):
        raise InvalidInput(f"{file_name}: two [[parts]] have the same name")
    if platform.change is not None and "config" not in platform.prompts:
        raise InvalidInput(f"{file_name}: [change] needs the prompt of the mode config")
    if platform.channel == "shell" and any(item.file is not None for item in platform.capture):
        raise InvalidInput(f"{file_name}: [capture] a file can be read over an exec channel only")
