"""The pages of what an agent may ask each platform, and of what inventories call it."""

import tomllib
from collections.abc import Iterable
from importlib.resources import files

from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.read_only.forms import Node, graph_of
from tests.repository.generated.markdown import code, page, table
from tests.support.platform_fixtures import load, recordings

MOST_WORDS = 14  # first words that a row names


def read_only_platforms() -> str:
    registry = PlatformRegistry()
    return page(
        "What an agent may ask each platform",
        "Look up here with which words the commands of an agent may begin, and which filters may stand "
        "behind them. The forms and filters of the platform that it is like are among those of a "
        "platform. `POST /api/agents/tools/check` says of a single command whether it is allowed; "
        "[Read-only commands](read-only-commands.md) says how the forms are written.",
        table(
            ("Platform", "Like", "Forms", "Commands begin with", "Filters"),
            [_allowed(registry, name) for name in registry.names()],
        ),
    )


def platform_slugs() -> str:
    registry = PlatformRegistry()
    recorded = {path.parent.name for path in recordings()}
    return page(
        "Names of platforms in NetBox, Nautobot and NAPALM",
        "Look up here which slugs of platforms and drivers of NAPALM lead to which `device_type`, beside the "
        "[names of the platform](platforms.md) with dashes for underscores. [NetBox and Nautobot](netbox.md) "
        "says how the device type of a device is found. The last column says whether the platform is tested "
        "with texts that a device has printed (recorded) or with texts in the syntax of its "
        "manual (constructed).",
        table(
            ("device_type", "Slugs and drivers", "Tested with"),
            [_names(registry, name, recorded) for name in registry.names()],
        ),
    )


def _allowed(registry: PlatformRegistry, name: str) -> list[str]:
    text = files("netautod.transport.ssh").joinpath("platforms", f"{name}.toml").read_text(encoding="utf-8")
    like = tomllib.loads(text).get("read_only", {}).get("like", "")
    grammar = registry.get(name).read_only
    words = _first_words(graph_of(grammar.forms)) if grammar.forms else "`show` with plain words"
    filters = _first_words(graph_of(grammar.filters)) if grammar.filters else "none"
    return [code(name), code(like), str(len(grammar.forms)), words, filters]


def _first_words(root: Node) -> str:
    words = sorted(root.words, key=str.lower)
    more = f" and {len(words) - MOST_WORDS} more" if len(words) > MOST_WORDS else ""
    return _listed(words[:MOST_WORDS]) + more


def _names(registry: PlatformRegistry, name: str, recorded: Iterable[str]) -> list[str]:
    names = registry.get(name).names
    fixtures = "constructed, recorded" if name in recorded else load(name).origin.partition(",")[0]
    return [code(name), _listed(dict.fromkeys((*names.netbox, *names.napalm))), fixtures]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(map(code, words))
