"""The parser of `[change]` of a platform's file."""

from collections.abc import Iterable, Sequence

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.config_lines.beginnings import Beginning, read_beginning
from netautod.transport.ssh.config_lines.exec_verbs import LEAVING
from netautod.transport.ssh.config_lines.grammar import ConfigLines
from netautod.transport.ssh.config_lines.later import Never, read_never
from netautod.transport.ssh.config_lines.texts import TextBlock
from netautod.transport.ssh.platform.model import ConfigChange
from netautod.transport.ssh.platform.toml_file import TomlTable

_NEED_WORDS = (
    "alone",
    "up",
    "before",
    "delimited",
    "blocks",
    "separators",
    "unquoted",
    "never",
    "exact",
    "shell",
)


def read_change(table: TomlTable, *, reading: Sequence[str]) -> ConfigChange:
    """Return the way to change a configuration; `reading` are the platform's read-only forms. InvalidInput
    names what is wrong.
    """
    enter, leave = table.texts("enter", required=True), table.texts("leave", required=True)
    apply, discard, save = table.texts("apply"), table.texts("discard"), table.texts("save")
    change = ConfigChange(
        enter=enter,
        leave=leave,
        apply=apply,
        discard=discard,
        save=save,
        keeps=table.flag("keeps"),
        negation=table.optional_text("negation") or "no",
        failures=table.line_patterns("failures"),
        lines=_lines(table.table("lines"), commands=(*enter, *leave, *apply, *discard, *save, *reading)),
    )
    if change.keeps and change.save:
        raise table.wrong("what keeps every change needs no save")
    table.refuse_unknown()
    return change


def _lines(table: TomlTable, *, commands: Iterable[str]) -> ConfigLines:
    """Return the lines that the table lists; the first words of `commands` are exec commands of the
    platform's own.
    """
    up, shell = table.texts("up"), table.flag("shell")
    lines = ConfigLines(
        like=table.optional_text("like"),
        words=_beginnings(table, "words"),
        alone=(*_beginnings(table, "alone"), *_beginnings(table, "up")),
        up=up,
        before=tuple(word for one in _beginnings(table, "before") for word in one[0]),
        delimited=_beginnings(table, "delimited"),
        blocks=tuple(_block(item) for item in table.tables("blocks", required=False)),
        separators=table.texts("separators"),
        unquoted=table.texts("unquoted"),
        never=_never(table),
        exact=table.flag("exact") or shell,
        shell=shell,
        verbs=frozenset(command.split()[0].lower() for command in commands if command.strip()),
    )
    table.refuse_unknown()
    given = next((key for key in _NEED_WORDS if table.has(key)), None)
    if given is not None and not (lines.words or lines.like):
        raise table.wrong(f"{given} needs words")
    return lines


def _beginnings(table: TomlTable, key: str) -> tuple[Beginning, ...]:
    try:
        found = tuple(map(read_beginning, table.texts(key)))
    except InvalidInput as exc:
        raise table.wrong(f"{key}: {exc}") from exc
    if key in ("alone", "up"):  # `end` may well end a section
        return found
    for word in (word for one in found for word in one[0] if word in LEAVING):
        raise table.wrong(f"{key}: {word!r} runs commands or leaves the configuration mode")
    return found


def _never(table: TomlTable) -> tuple[Never, ...]:
    try:
        return tuple(map(read_never, table.texts("never")))
    except InvalidInput as exc:
        raise table.wrong(f"never: {exc}") from exc


def _block(table: TomlTable) -> TextBlock:
    block = TextBlock(begin=table.pattern("begin"), line=table.pattern("line"), end=table.pattern("end"))
    table.refuse_unknown()
    # If the device does not take the lines for text, they are commands.
    for command in ("do reload", "reload"):
        if any(pattern.fullmatch(command) for pattern in (block.begin, block.line, block.end)):
            raise table.wrong(f"a pattern matches {command!r}, which is a command")
    return block
