"""The script of a simulated command line: what a platform prints, asks and understands."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from netautod.transport.ssh.platform import toml_file as platform_file


@dataclass(frozen=True, kw_only=True)
class LoginStep:
    """A text that stands between login and prompt, such as `Press any key to continue`.

    `wait` says what the device reads before it goes on: `key`, `line`, `user` (a name), `password` (that of
    the device; it asks three times, then ends the session) or nothing.
    """

    text: str
    wait: str = "nothing"


@dataclass(frozen=True, kw_only=True)
class ModeChange:
    """A command (a regular expression for the whole line) that leads from `modes` (empty: any) to mode `to`.

    With a `password_prompt` it asks for the `enable_password` of the device, three times, then prints
    `refusal`; a device without such a password does not ask. With a `user_prompt` it asks for the name of
    the user first. `output` is printed in the new mode.
    """

    command: str
    to: str
    modes: tuple[str, ...] = ()
    user_prompt: str = ""
    password_prompt: str = ""
    refusal: str = ""
    output: str = ""


@dataclass(frozen=True, kw_only=True)
class ScriptedCommand:
    """A command (a regular expression for the whole line) and its output in `modes` (empty: any).

    Without `output` it prints what the device's `responses` have for it, else the device's `config`. In
    other modes the command is unknown, whatever `responses` say.
    """

    command: str
    output: str | None = None
    modes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PagerScript:
    """The paging of output: after `lines` - 1 lines `text` waits for a key, which is followed by `erase`.

    A blank shows the next page, Enter the next line, `q` ends the output; `other_keys` are as good as a
    blank. `off` are the commands that switch it off (a group in the expression: to that many lines a page, 0
    for none). With `end_text` the end of a paged output waits for `q`, as `less` does.
    """

    text: str
    erase: str
    lines: int = 24
    off: tuple[str, ...] = ()
    other_keys: str = ""
    end_text: str = ""


@dataclass(frozen=True, kw_only=True)
class CliScript:
    r"""The script of a platform as its user sees it; all texts have `\n` as line end, `line_end` is what is
    sent.

    `prompts` maps modes to texts, in which `{host}` is the host name and `{count}` the number of commands so
    far; several lines are fine. A session begins in `mode`, or in `unprivileged` when the device has an
    `enable_password`. `ignored` are commands that do something invisible. `before_output` is printed before
    the output of each command that prints (IOS-XR's time stamp). `login_options` is an expression for what
    may follow the user name at the login. `drifting` is an expression whose group is a number that is larger
    at each reading. `log_line` is what the device prints into output by itself; empty for a platform that
    does not.
    """

    prompts: Mapping[str, str]
    mode: str
    unprivileged: str = ""
    login_options: str = ""
    login: tuple[LoginStep, ...] = ()
    changes: tuple[ModeChange, ...] = ()
    commands: tuple[ScriptedCommand, ...] = ()
    ignored: tuple[str, ...] = ()
    leave: tuple[str, ...] = ("exit", "quit", "logout")
    farewell: str = ""
    unknown: str = "% Invalid input\n"
    before_output: str = ""
    after_output: str = ""
    drifting: str = ""
    log_line: str = ""
    line_end: str = "\r\n"
    pager: PagerScript | None = None


def read_script(path: Traversable) -> CliScript:
    """Return the script in the TOML file at `path`; its keys are the names of the fields of the classes
    above.

    `[prompts]` and `[pager]` are tables, `[[login]]`, `[[changes]]` and `[[commands]]` arrays of tables.
    InvalidInput names the file, the table and the key.
    """
    table = platform_file.read(path)
    prompts = table.table("prompts")
    script = CliScript(
        prompts={mode: prompts.text(mode) for mode in prompts.names()},
        mode=table.text("mode"),
        unprivileged=table.optional_text("unprivileged") or "",
        login_options=table.optional_text("login_options") or "",
        login=tuple(_login(item) for item in table.tables("login", required=False)),
        changes=tuple(_change(item) for item in table.tables("changes", required=False)),
        commands=tuple(_command(item) for item in table.tables("commands", required=False)),
        ignored=table.texts("ignored"),
        leave=table.texts("leave") or CliScript.leave,
        farewell=table.optional_text("farewell") or "",
        unknown=table.text("unknown"),
        before_output=table.optional_text("before_output") or "",
        after_output=table.optional_text("after_output") or "",
        drifting=table.optional_text("drifting") or "",
        log_line=table.optional_text("log_line") or "",
        line_end=table.optional_text("line_end") or CliScript.line_end,
        pager=_pager(table.table("pager")) if table.has("pager") else None,
    )
    if not {script.mode, script.unprivileged or script.mode} <= set(script.prompts):
        raise table.wrong("mode and unprivileged must name modes of [prompts]")
    table.refuse_unknown()
    return script


def _login(table: platform_file.TomlTable) -> LoginStep:
    wait = (
        table.choice("wait", ("key", "line", "user", "password", "nothing"))
        if table.has("wait")
        else "nothing"
    )
    step = LoginStep(text=table.text("text"), wait=wait)
    table.refuse_unknown()
    return step


def _change(table: platform_file.TomlTable) -> ModeChange:
    change = ModeChange(
        command=table.pattern("command").pattern,
        to=table.text("to"),
        modes=table.texts("modes"),
        user_prompt=table.optional_text("user_prompt") or "",
        password_prompt=table.optional_text("password_prompt") or "",
        refusal=table.optional_text("refusal") or "",
        output=table.optional_text("output") or "",
    )
    table.refuse_unknown()
    return change


def _command(table: platform_file.TomlTable) -> ScriptedCommand:
    command = ScriptedCommand(
        command=table.pattern("command").pattern,
        output=table.optional_text("output"),
        modes=table.texts("modes"),
    )
    table.refuse_unknown()
    return command


def _pager(table: platform_file.TomlTable) -> PagerScript:
    pager = PagerScript(
        text=table.text("text"),
        erase=table.text("erase"),
        lines=table.number("lines", default=PagerScript.lines),
        off=table.texts("off"),
        other_keys=table.optional_text("other_keys") or "",
        end_text=table.optional_text("end_text") or "",
    )
    table.refuse_unknown()
    return pager
