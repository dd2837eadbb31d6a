"""The grammar of read-only commands: forms, abbreviations, arguments, filters, the unknown platform."""

import pickle

import pytest

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.platform.registry import read_only_grammar
from netautod.transport.ssh.read_only.grammar import LONGEST, ReadOnlyGrammar
from tests.support.tables import over

SWITCH = ReadOnlyGrammar(
    forms=(
        "show interfaces [<interface>] [status|counters [errors]|vlan <number>]",
        "show ip route [vrf <name>] [<address>|summary]",
        "show ns runningConfig",
        "show mac address-table address <mac>",
        "show vlan [brief|id <number>]",
        "show version",
        "show vrf",
    ),
    filters=("include|exclude <pattern>", "match <pattern>|<quoted>", "count"),
    pipes=2,
)
ROUTER = ReadOnlyGrammar(forms=("/ip address print [detail] [where interface=<interface>]",), slashes=True)
REGEX = ReadOnlyGrammar(
    forms=("show run", "show vlan brief", "show vlans", "show log where topic~<quoted>"),
    filters=("include <pattern>|<either>", "include <pattern>|<either> <name>|<either>"),
)
SHELL = ReadOnlyGrammar(forms=("ip -br addr", "cat /etc/hosts"), filters=("head -<number>",), exact=True)


@over(
    ("grammar", "command", "sent"),
    [
        pytest.param(SWITCH, "show version", "show version", id="as it is written"),
        pytest.param(SWITCH, "  sh   ver ", "show version", id="abbreviated, with blanks"),
        pytest.param(SWITCH, "SHOW VERSION", "show version", id="in capitals"),
        pytest.param(SWITCH, "sh ns run", "show ns runningConfig", id="the case of the vendor"),
        pytest.param(SWITCH, "sh int gi1/0/1 sta", "show interfaces gi1/0/1 status", id="interface"),
        pytest.param(
            SWITCH, "sh int Gi 1/0/1 c e", "show interfaces Gi 1/0/1 counters errors", id="two words"
        ),
        pytest.param(SWITCH, "sh ip ro vrf A 10.0.0.0/8", "show ip route vrf A 10.0.0.0/8", id="prefix"),
        pytest.param(SWITCH, "sh ip ro 2001:db8::1", "show ip route 2001:db8::1", id="IPv6"),
        pytest.param(SWITCH, "sh vl id 10", "show vlan id 10", id="number"),
        pytest.param(
            SWITCH, "sh mac ad ad 0011.2233.4455", "show mac address-table address 0011.2233.4455", id="MAC"
        ),
        pytest.param(SWITCH, "sh ver | i up|c", "show version | include up | count", id="filters"),
        pytest.param(SWITCH, 'sh ver|match "a b|c"', 'show version | match "a b|c"', id="quoted"),
        pytest.param(ROUTER, "/ip/address/print", "/ip address print", id="slashes"),
        pytest.param(ROUTER, "ip ad pr det", "/ip address print detail", id="no slash"),
        pytest.param(
            ROUTER,
            "/ip address print where interface=ether1",
            "/ip address print where interface=ether1",
            id="key",
        ),
        pytest.param(REGEX, "sh vl br", "show vlan brief", id="the next word tells which is meant"),
        pytest.param(REGEX, "sh run | i up|down", "show run | include up|down", id="alternatives"),
        pytest.param(
            REGEX, "sh run|i line|up an|ok", "show run | include line|up an|ok", id="alternatives of words"
        ),
        pytest.param(
            REGEX, 'sh log wh topic~"a|b c"', 'show log where topic~"a|b c"', id="quoted behind a key"
        ),
        pytest.param(SHELL, "ip -br addr | head -3", "ip -br addr | head -3", id="shell"),
    ],
)
def test_what_is_allowed_is_sent_in_full(grammar: ReadOnlyGrammar, command: str, sent: str) -> None:
    assert grammar.check(command) == (sent, None)
    assert grammar.check(sent) == (sent, None)


@over(
    ("grammar", "requested", "reason"),
    [
        pytest.param(SWITCH, "", "printable", id="nothing"),
        pytest.param(SWITCH, "  ", "missing", id="blanks"),
        pytest.param(
            SWITCH, "reload", "'reload' is not allowed at the beginning; allowed: show", id="reload"
        ),
        pytest.param(SWITCH, "s version", "too short", id="one letter"),
        pytest.param(SWITCH, "show", "`show` is not whole", id="not whole"),
        pytest.param(SWITCH, "show v", "'v' is ambiguous: version, vlan, vrf", id="ambiguous"),
        pytest.param(
            SWITCH, "show interfaces status 7", "behind `show interfaces status`", id="other choice"
        ),
        pytest.param(SWITCH, "show version all", "'all' is not allowed behind `show version`", id="too much"),
        pytest.param(SWITCH, "show version\nreload", "printable", id="newline"),
        pytest.param(SWITCH, "show version\n", "printable", id="newline at the end"),
        pytest.param(SWITCH, "show\tversion", "printable", id="tab"),
        pytest.param(SWITCH, "show version\x00", "printable", id="NUL"),
        pytest.param(SWITCH, "show\u00a0version", "printable", id="NBSP"),
        pytest.param(SWITCH, "\u0455how version", "printable", id="look-alike"),
        pytest.param(SWITCH, "show version;reload", "'version;reload' is not allowed", id="semicolon"),
        pytest.param(
            SWITCH, "show version | redirect x", "behind the |: 'redirect' is not allowed", id="redirect"
        ),
        pytest.param(SWITCH, "show version |", "a filter is missing", id="no filter"),
        pytest.param(
            SWITCH, "show version | count | count | count", "2 times at most", id="too many filters"
        ),
        pytest.param(SWITCH, 'show version | match "a;b"', "not allowed", id="semicolon in quotes"),
        pytest.param(SWITCH, 'show version | match "a | save x"', "not allowed", id="pipe in quotes"),
        pytest.param(SWITCH, 'show version | match "a', "not allowed", id="quotes that do not close"),
        pytest.param(SWITCH, "show ip route vrf delete", "'delete' is not allowed", id="an order for a name"),
        pytest.param(SWITCH, "show ip route vrf a..b", "not allowed", id="dots"),
        pytest.param(SWITCH, "show ip route vrf tftp://10.0.0.1/x", "not allowed", id="place"),
        pytest.param(SWITCH, "show ip route vrf -x", "not allowed", id="option"),
        pytest.param(SWITCH, "show ip route s" + "s" * LONGEST, f"{LONGEST} characters", id="long"),
        pytest.param(ROUTER, "/ip//address print", "not allowed", id="two slashes"),
        pytest.param(ROUTER, "/ip/address/print where interface=[find]", "not allowed", id="script"),
        pytest.param(ROUTER, "/ip address print | x", "| is not allowed here", id="no filters at all"),
        pytest.param(REGEX, "sh run | i up|red", "not allowed", id="an alternative that could write"),
        pytest.param(REGEX, "sh run | i up|tee x", "not allowed", id="and with a name behind it"),
        pytest.param(REGEX, "sh run | i up |down", "1 times", id="a pipe with a blank"),
        pytest.param(REGEX, "sh run | i up||down", "1 times", id="an empty alternative"),
        pytest.param(SWITCH, 'sh ver | match "a|save"', "not allowed", id="quoted, and could write"),
        pytest.param(SWITCH, 'sh ver | match "a|sa x"', "not allowed", id="quoted, and abbreviated"),
        pytest.param(SHELL, "IP -br addr", "not allowed", id="case in a shell"),
        pytest.param(SHELL, "ip -br add", "not allowed", id="abbreviation in a shell"),
        pytest.param(SHELL, "cat /etc/hosts/../shadow", "not allowed", id="path"),
    ],
)
def test_everything_else_is_refused_with_the_reason(
    grammar: ReadOnlyGrammar, requested: str, reason: str
) -> None:
    command, refusal = grammar.check(requested)
    assert command is None
    assert refusal is not None
    assert reason in refusal


def test_an_ambiguous_abbreviation_is_no_argument() -> None:
    grammar = ReadOnlyGrammar(forms=("show policy input|inside", "show policy <name>"))
    assert grammar.check("show policy in").command is None
    assert grammar.check("show policy in").reason == "'in' is ambiguous: input, inside"
    assert grammar.check("show policy outer").command == "show policy outer"


def test_each_kind_of_an_argument_is_tried_to_the_end() -> None:
    grammar = ReadOnlyGrammar(forms=("show vlan <number>", "show vlan <name> ports"))
    assert grammar.check("show vlan 10 p").command == "show vlan 10 ports"


@over("device_type", ["generic", "autodetect", "no_such_platform", ""])
def test_of_an_unknown_platform_show_with_plain_words_is_allowed(device_type: str) -> None:
    grammar = read_only_grammar(device_type)
    assert grammar.check("show ip interface brief").command == "show ip interface brief"
    assert grammar.check("sh interface Gi1/0/1:1.20").command == "show interface Gi1/0/1:1.20"


@over(
    "command",
    [
        pytest.param("show", id="alone"),
        pytest.param("display version", id="another word"),
        pytest.param("shower x", id="a longer word"),
        pytest.param("show version | include x", id="filter"),
        pytest.param("show run redirect tftp:", id="redirect"),
        pytest.param("show flash:/../x", id="path"),
        pytest.param("show x > y", id="into a file"),
        pytest.param("show tech-support", id="minutes of load"),
        pytest.param("show crypto key mypubkey", id="keys"),
        pytest.param("show version; reload", id="semicolon"),
        pytest.param("show --version", id="option"),
        pytest.param("show $HOME", id="variable"),
    ],
)
def test_of_an_unknown_platform_nothing_else_is(command: str) -> None:
    assert read_only_grammar("no_such_platform").check(command).command is None


@over(
    ("form", "problem"),
    [
        pytest.param("show [ip", "does not close", id="bracket that does not close"),
        pytest.param("show ip]", "nothing opens", id="bracket that nothing opens"),
        pytest.param("show []", "nothing where", id="empty bracket"),
        pytest.param("show [a|]", "nothing where", id="empty choice in a bracket"),
        pytest.param("show [|a b]", "neither a word", id="empty choice at its beginning"),
        pytest.param("[show]", "no word that must", id="all may be absent"),
        pytest.param("", "nothing where", id="nothing"),
        pytest.param("show <nothing>", "'<nothing>' is neither", id="unknown kind"),
        pytest.param("show <name>s", "neither", id="text behind an argument"),
        pytest.param("show a;b", "neither", id="semicolon"),
        pytest.param("show a||b", "neither", id="empty choice outside"),
    ],
)
def test_a_form_that_cannot_be_read_is_named(form: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as error:
        ReadOnlyGrammar(forms=("show version", form)).verify()
    assert repr(form) in str(error.value)
    assert problem in str(error.value)


def test_a_copy_for_another_process_has_no_graphs() -> None:
    SWITCH.check("show version")
    copy = pickle.loads(pickle.dumps(SWITCH))
    assert copy == SWITCH
    assert set(copy.__dict__) == set(SWITCH.__dataclass_fields__)
    assert copy.check("sh ver").command == "show version"
