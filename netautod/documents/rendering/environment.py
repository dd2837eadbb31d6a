"""The sandboxed Jinja2 environment of the rendering children; only they may import this module.

Jinja2's own settings otherwise: one trailing line break of a template is dropped. Undefined renders empty; a
lookup in it, a call of it or a calculation with it is an error, in a strict environment every use but a test
or a default. `do`, `break` and `continue` exist, include and import do not. The filters of netutils exist,
but for those that open files or connections.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, NoReturn

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, meta
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from netutils import ip
from netutils.utils import jinja2_convenience_function

from netautod.documents.rendering.limits import (
    LIST_NAMES,
    MAX_OUTPUT,
    RENDER,
    RENDER_STRICT,
    TOO_MUCH_MEMORY,
    TOO_MUCH_OUTPUT,
)

# Left out of netutils 1.19: fqdn_to_ip, is_fqdn_resolvable and tcp_ping (the network), config_compliance and
# paloalto_panos_brace_to_set (open files by name), get_napalm_getters and the NIST ones (need other packages
# or a service). A list of what is allowed, so that a later release adds nothing unnoticed.
_ALLOWED = """
    abbreviated_interface_name abbreviated_interface_name_list asn_to_int bits_to_name bytes_to_name
    canonical_interface_name canonical_interface_name_list cidr_to_netmask cidr_to_netmaskv6 clean_config
    compare_cisco_type5 compare_cisco_type7 compare_cisco_type9 compare_type5 compare_type7
    compare_version_loose compare_version_strict decrypt_cisco_type7 decrypt_juniper_type9 decrypt_type7
    delimiter_change diff_network_config encrypt_cisco_type5 encrypt_cisco_type7 encrypt_cisco_type9
    encrypt_juniper_type9 encrypt_type5 encrypt_type7 get_all_host get_broadcast_address get_first_usable
    get_hash_salt get_ips_sorted get_oui get_peer_ip get_range_ips get_running_config_command
    get_upgrade_path get_usable_range int_to_asdot interface_range_compress interface_range_expansion
    ip_addition ip_subtract ip_to_bin ip_to_hex is_classful is_ip is_ip_range is_ip_within is_netmask
    is_network is_reversible_wildcardmask is_valid_mac longest_prefix_match mac_normalize mac_to_format
    mac_to_int mac_type name_to_bits name_to_bytes name_to_name netmask_to_cidr netmask_to_wildcardmask
    normalise_delimiter_caret_c paloalto_panos_clean_newlines regex_findall regex_match regex_search
    regex_split regex_sub sanitize_config section_config sort_interface_list split_interface
    uptime_seconds_to_string uptime_string_to_seconds version_metadata vlanconfig_to_list vlanlist_to_config
    wildcardmask_to_netmask
"""
NETWORK_FILTERS = tuple(_ALLOWED.split())
# netutils documents these two names for its ipaddress filters.
SAFE_DUNDERS = frozenset({"__int__", "__str__"})
# Room for the arithmetic of IPv6 addresses; a tower of powers is a bomb.
MAX_POWER_BITS = 192
TEMPLATE_NAME = "<template>"


class TooMuchOutputError(Exception):
    """Raised if the output passed its limit."""


class Strict(StrictUndefined):
    """An undefined value that cannot be used, not even as a part of a list that is printed."""

    __slots__ = ()
    __repr__ = StrictUndefined.__str__


class Environment(SandboxedEnvironment):
    """The sandbox of Jinja2, which refuses at once: by default an unsafe attribute renders as nothing."""

    intercepted_binops = frozenset({"**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        whole = isinstance(left, int) and isinstance(right, int) and abs(left) > 1
        if whole and right * math.log2(abs(left)) > MAX_POWER_BITS:
            raise OverflowError(f"a power of more than {MAX_POWER_BITS} bits")
        return super().call_binop(context, operator, left, right)

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:
        raise SecurityError(f"access to attribute {attribute!r} of {type(obj).__name__!r} object is unsafe.")


def environments() -> Mapping[str, Environment]:
    """Build the environments by what is done in them."""
    made, strict = environment(), environment(undefined=Strict)
    return {RENDER: made, RENDER_STRICT: strict, LIST_NAMES: made}


def environment(undefined: type[Undefined] = Undefined) -> Environment:
    made = Environment(
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        undefined=undefined,
        finalize=_null_is_empty,
        cache_size=0,
    )
    made.policies["json.dumps_kwargs"] = {"sort_keys": True, "default": _not_json}
    offered = jinja2_convenience_function()
    made.filters.update({name: offered[name] for name in NETWORK_FILTERS if name in offered})
    made.filters.update(
        ipaddress_address=_checked_attribute(ip.ipaddress_address),
        ipaddress_interface=_checked_attribute(ip.ipaddress_interface),
        ipaddress_network=_checked_attribute(ip.ipaddress_network),
        hash_data=hash_data,
    )
    return made


def perform(made: Mapping[str, Environment], template: str, options: Mapping[str, Any]) -> bytes:
    """Return the answer to a request: `work` of the options is what to do, `variables` are those to render
    with."""
    work = options["work"]
    if work == LIST_NAMES:
        return list_names(made[work], template)
    return render(made[work], template, options["variables"])


def list_names(made: Environment, template: str) -> bytes:
    """Return the names that a template uses and does not set itself, sorted, as JSON."""
    names = json.dumps(sorted(meta.find_undeclared_variables(made.parse(template)))).encode()
    if len(names) > MAX_OUTPUT:
        raise TooMuchOutputError
    return names


def render(made: Environment, template: str, variables: Mapping[str, Any]) -> bytes:
    """Return the output in UTF-8; raises whatever a template can raise, and TooMuchOutputError."""
    parts: list[bytes] = []
    room = MAX_OUTPUT
    for part in made.from_string(template).generate(dict(variables)):
        # Characters first: encoding a huge part would double it.
        data = part.encode() if len(part) <= room else b"\0" * (room + 1)
        room -= len(data)
        if room < 0:
            raise TooMuchOutputError
        parts.append(data)
    return b"".join(parts)


def describe(error: BaseException) -> str:
    """Describe the error in one sentence for the template's author, with the line if it is known."""
    if isinstance(error, TooMuchOutputError):
        return TOO_MUCH_OUTPUT
    if isinstance(error, MemoryError):
        return TOO_MUCH_MEMORY
    if isinstance(error, RecursionError):
        return "The template is nested too deeply or calls itself without an end"
    if isinstance(error, OSError):  # its full text names a path of this machine
        return f"{type(error).__name__}: {error.strerror}"
    text = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
    line = error.lineno if isinstance(error, TemplateSyntaxError) else _line_of(error.__traceback__)
    return text if line is None else f"line {line}: {text}"


def hash_data(data: Any, algorithm: str) -> str:
    """Hash as netutils' filter of this name, which would accept any attribute of hashlib as an algorithm."""
    name = str(algorithm).lower()
    if name not in hashlib.algorithms_guaranteed:
        raise ValueError(f"unknown hash algorithm {name!r}")
    content = data if isinstance(data, bytes) else str(data).encode()
    return hashlib.new(name, content).hexdigest()


def warm_up(made: Environment) -> None:
    """Load what a first render would load: after the fork nothing can be opened any more."""
    # A module of 40,000 rows that netutils imports inside of get_oui.
    made.from_string("{{ '00:00:0c:00:00:00' | get_oui }}").render()
    text = (
        "{% set seen = namespace(n=0) %}{% macro m(x) %}{{ x|tojson }}{% endmacro %}"
        "{% for v in [1.5, 'é', none, {'a': 1}] %}{% do seen %}{{ m(v) }}{{ loop.index }}{% endfor %}"
        "{{ lipsum(n=1)|wordwrap|urlize|title }}{{ '%s'|format(1) }}{{ '{}'.format(2)|urlencode }}"
        "{{ '10.0.0.1'|ip_addition(1) }}{{ ['b', 'a']|sort|join|md }}"
    )
    for source in (text.replace("|md", ""), text, "{{ a.b }}", "{{ a() }}", "{{ 1/0 }}", "{% if %}"):
        try:
            list_names(made, source)
            render(made, source, {})
        except (TemplateError, ArithmeticError) as error:
            describe(error)


def _not_json(value: Any) -> NoReturn:
    if isinstance(value, Undefined):
        value()  # its own error, which names it
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _null_is_empty(value: Any) -> Any:
    return "" if value is None else value


def _checked_attribute(get: Callable[..., Any]) -> Callable[..., Any]:
    """Check the attribute that netutils reads with attrgetter: `__init__.__globals__` would be a way out."""

    @wraps(get)
    def checked(value: Any, attribute: Any, **options: Any) -> Any:
        name = str(attribute)
        if name not in SAFE_DUNDERS and any(part.startswith("_") for part in name.split(".")):
            raise SecurityError(f"access to attribute {name!r} is unsafe.")
        return get(str(value), name, **options)

    return checked


def _line_of(trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TEMPLATE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
