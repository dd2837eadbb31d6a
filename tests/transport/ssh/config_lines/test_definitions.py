"""The table [change.lines] of a platform's file: what it may say, and what is refused with a sentence."""

from pathlib import Path

import pytest

from netautod.core.errors import InvalidInput
from netautod.testing import check_config_lines
from netautod.transport.ssh.config_lines.grammar import ConfigLines
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.manual import page

FILE = """
name = "acme_os"
channel = "shell"
sources = ["a made-up vendor"]
[prompts]
exec = '(?P<host>\\w+)>$'
config = '(?P<host>\\w+)#$'
[capture]
items = [{ command = "show config" }]
[change]
enter = ["setup"]
leave = ["leave"]
save = ["keep all"]
[change.lines]
"""


def read(folder: Path, lines: str, *, file: str = FILE) -> ConfigLines:
    path = folder / "acme_os.toml"
    path.write_text(file + lines)
    change = PlatformRegistry().register(path).change
    assert change is not None
    return change.lines


def is_taken(known: ConfigLines, *lines: str) -> bool:
    try:
        known.check(lines)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        pytest.param("word = ['x']", r"\[change\] \[lines\]: unknown key 'word'", id="an unknown key"),
        pytest.param("words = 'x'", "words must be an array", id="one word as text"),
        pytest.param("words = ['Interface']", "'Interface' of 'Interface' is neither", id="upper case"),
        pytest.param(
            "words = ['ip <name>']", "'<name>' of 'ip <name>' is neither", id="a kind that fits commands"
        ),
        pytest.param("words = ['a||b']", "'' of 'a||b' is neither", id="a choice without a word"),
        pytest.param("words = [' ']", "an entry has no word", id="a blank"),
        pytest.param("words = ['do']", "words: 'do' runs commands", id="do"),
        pytest.param("words = ['x', 'end']", "words: 'end' runs commands or leaves", id="end"),
        pytest.param("words = ['x']\nbefore = ['do']", "before: 'do' runs commands", id="do before a line"),
        pytest.param("never = ['x']", "never needs words", id="never without words"),
        pytest.param("words = ['x']\nnever = ['Auto']", "never: 'Auto' is no word", id="never in upper case"),
        pytest.param("words = ['x']\nnever = ['a b']", "never: 'a b' is no word", id="two words never"),
        pytest.param("words = ['x']\nnever = ['a[b']", r"never: 'a\[b' is no word", id="an open bracket"),
        pytest.param("words = ['x']\nnever = ['[ab]']", "is no word", id="a word that may be missing"),
        pytest.param("before = ['no']", "before needs words", id="before what?"),
        pytest.param("shell = true", "shell needs words", id="a shell without words"),
        pytest.param("separators = [';']", "separators needs words", id="separators without words"),
        pytest.param("like = 'no_such_os'", r"\[change.lines\] like names no platform", id="like nothing"),
        pytest.param(
            "like = 'linux'", r"\[change.lines\] like names no platform", id="like an unchangeable one"
        ),
        pytest.param(
            "words = ['x']\n[[change.lines.blocks]]\nbegin = 'cert'\nline = '.*'\nend = 'quit'",
            r"\[blocks 1\]: a pattern matches 'do reload', which is a command",
            id="a text of anything",
        ),
        pytest.param(
            "words = ['x']\n[[change.lines.blocks]]\nbegin = 'cert'\nline = '[0-9]+'",
            r"\[blocks 1\]: end is missing",
            id="a text without an end",
        ),
    ],
)
def test_a_faulty_table_is_refused(tmp_path: Path, lines: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read(tmp_path, lines)


@pytest.mark.parametrize("table", ["", FILE.replace("[change.lines]", "")])
def test_a_file_from_before_the_table_loads(tmp_path: Path, table: str) -> None:
    known = read(tmp_path, "", file=table or FILE)
    assert known.words == ()
    assert is_taken(known, "hostname x", "interface 1")
    assert not is_taken(known, "cop run start")


@pytest.mark.parametrize("line", ["setup", "set", "keep all", "kee", "leave", "sho config"])
def test_without_a_list_commands_of_the_platform_itself_are_refused_too(tmp_path: Path, line: str) -> None:
    assert not is_taken(read(tmp_path, ""), line)


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        pytest.param("interface x", True, id="a word"),
        pytest.param("int x", True, id="its abbreviation"),
        pytest.param("i x", False, id="one that may be install"),
        pytest.param("kee x", False, id="one that may be a command of the platform"),
        pytest.param("keepalive x", True, id="the word that it would be"),
        pytest.param("session 1", False, id="a command"),
        pytest.param("monitor session 1", True, id="a command that is configuration in this line"),
        pytest.param("mon sess 1", True, id="abbreviated"),
        pytest.param("mon ses 1", False, id="too short behind the first word"),
        pytest.param("monitor capture x", False, id="the same word in another line"),
        pytest.param("monitor", False, id="the word alone"),
        pytest.param("load x", False, id="a word of its own, not load-balance"),
        pytest.param("load-b x", True, id="load-balance, abbreviated"),
        pytest.param("mon even x", True, id="event, abbreviated"),
        pytest.param("mon link x", False, id="a word of its own, not link-state"),
        pytest.param("set x", True, id="a command that is configuration here"),
        pytest.param("leaf", True, id="a line that stands alone"),
        pytest.param("leaf x", False, id="with something behind it"),
        pytest.param("no interface x", True, id="behind no"),
        pytest.param("no leaf", True, id="a line that stands alone, behind no"),
        pytest.param("no session 1", False, id="a command behind no"),
        pytest.param("no no interface x", False, id="no twice"),
        pytest.param("10 permit x", True, id="a number"),
        pytest.param("192.0.2.0/24", True, id="an address"),
        pytest.param("x 10", False, id="no number"),
        pytest.param("INTERFACE x", True, id="in upper case"),
        pytest.param("interface x\ty", False, id="a tab"),
        pytest.param("interface \u202ex", False, id="a character that turns the direction of reading"),
        pytest.param("interface \u00e4", True, id="a letter beyond ASCII"),
    ],
)
def test_what_a_list_takes(tmp_path: Path, line: str, taken: bool) -> None:
    first = "'interface', 'keepalive', 'load-balance', 'monitor session|event|link-state'"
    words = f"words = [{first}, 'set', '<number>', '<address>']"
    assert is_taken(read(tmp_path, f"{words}\nalone = ['leaf']\nbefore = ['no']"), line) is taken


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        pytest.param("user x autocommand reload", False, id="the word in full"),
        pytest.param("user x autoc reload", False, id="its shortest abbreviation"),
        pytest.param("user x AutoComm reload", False, id="another, in upper case"),
        pytest.param("user x auto", True, id="a shorter word"),
        pytest.param("user x autocommands", True, id="a longer word"),
        pytest.param('user x "autocommand"', False, id="alone in quotes"),
        pytest.param('user x "the autocommand y"', True, id="in a text"),
        pytest.param("user x ' \" autocommand \" '", False, id="in quotes that other quotes may end"),
        pytest.param('user x " autocommand " autocommand', False, id="behind a text"),
        pytest.param("no user x autocommand", False, id="behind no"),
        pytest.param("user x hook", False, id="a word that is not abbreviated"),
        pytest.param("user x hoo", True, id="which this is not"),
    ],
)
def test_a_word_that_no_line_has(tmp_path: Path, line: str, taken: bool) -> None:
    known = read(
        tmp_path, "words = ['user']\nbefore = ['no']\nunquoted = ['|']\nnever = ['autoc[ommand]', 'hook']"
    )
    assert is_taken(known, line) is taken


def test_a_word_that_no_line_has_is_found_in_a_text_where_quotes_are_plain_characters(tmp_path: Path) -> None:
    known = read(tmp_path, "words = ['user']\nnever = ['hook']")
    assert not is_taken(known, 'user "x hook y"')


def test_a_word_that_no_line_has_is_named_in_the_reason(tmp_path: Path) -> None:
    known = read(tmp_path, "words = ['user']\nnever = ['autoc[ommand]']")
    with pytest.raises(InvalidInput) as refused:
        known.check(["user x autoc reload"])
    assert refused.value.text == "lines: line 1: autocommand has the device run commands later"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("reload", "'reload' is the command reload, no line of configuration", id="in full"),
        pytest.param("relo", "'relo' may stand for the command reload", id="abbreviated"),
        pytest.param("i x", "'i' may stand for the command import: write it in full", id="unclear"),
        pytest.param("zzz", "'zzz' is no line of configuration", id="no command"),
    ],
)
def test_the_reason_tells_a_command_from_what_may_stand_for_it(
    tmp_path: Path, line: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, "words = ['interface']").check([line])
    assert refused.value.text == f"lines: line 1: {reason}"


def test_an_exact_list_takes_no_abbreviation(tmp_path: Path) -> None:
    known = read(tmp_path, "words = ['interface']\nexact = true")
    assert is_taken(known, "interface x")
    assert not any(is_taken(known, line) for line in ("int x", "Interface x", "INTERFACE x"))


def test_a_list_like_that_of_another_platform(tmp_path: Path) -> None:
    known = read(tmp_path, "like = 'ruijie_os'\nwords = ['acme']")
    assert known.like is None
    assert all(is_taken(known, line) for line in ("acme x", "nfpp", "spanning-tree", "no shutdown"))
    assert not is_taken(known, "do reload")


def test_the_number_of_the_line_and_no_secret_are_in_the_reason(tmp_path: Path) -> None:
    known = read(tmp_path, "words = ['interface']")
    with pytest.raises(InvalidInput) as refused:
        known.check(["interface x", "usernme x secret s3cret"])
    assert refused.value.text == "lines: line 2: 'usernme' is no line of configuration"


STORES = ("write memory", "wr", "cop run start", "commit", "save", "keep all", "kee al", " copy x y")


@pytest.mark.parametrize("line", STORES)
def test_a_line_that_stores(tmp_path: Path, line: str) -> None:
    path = tmp_path / "acme_os.toml"
    path.write_text(FILE)
    change = PlatformRegistry().register(path).change
    assert change is not None
    assert change.stores(["hostname x", line])
    assert not change.stores(["hostname x", "keepalive 10", "service x", "", "c"])


@pytest.fixture
def manual_example(tmp_path: Path) -> Path:
    """Return a platform file with the tables that the manual shows."""
    shown = page("extend/config-lines.md").partition("```toml\n")[2].partition("```")[0]
    path = tmp_path / "acme_os.toml"
    path.write_text(FILE.partition("[change]")[0] + shown)
    return path


@pytest.mark.parametrize(
    "line",
    ["interface 1", "int 1", "no ip routing", "10 permit ip any any", "mon sess 1", "banner motd #hello#"],
)
def test_the_list_of_the_manual_takes_what_the_manual_says(manual_example: Path, line: str) -> None:
    assert check_config_lines(manual_example, [line]) is None


@pytest.mark.parametrize("line", ["clock set", "monitor capture", "do reload", "exit", "archive x", "i x"])
def test_the_list_of_the_manual_refuses_what_the_manual_says(manual_example: Path, line: str) -> None:
    assert "line 1" in (check_config_lines(manual_example, [line]) or "")


def test_lines_of_a_platform_that_cannot_be_changed_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "acme_os.toml"
    path.write_text(FILE.partition("[change]")[0])
    with pytest.raises(InvalidInput, match=r"acme_os.toml: there is no \[change\]"):
        check_config_lines(path, ["hostname x"])
