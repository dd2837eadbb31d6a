"""The registry that finds a platform by device_type: those that ship, and those of plugins."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from types import MappingProxyType

from netautod.core.errors import InvalidInput
from netautod.secrets.redaction.announced.kinds import kind_of
from netautod.transport.ssh.platform.model import CaptureItem, Platform, SecretPattern
from netautod.transport.ssh.platform.parser import load_platform
from netautod.transport.ssh.read_only.grammar import ReadOnlyGrammar
from netautod.transport.ssh.read_only.inheritance import with_inherited_forms

FALLBACK = "generic"
# Suffixes of Netmiko for the transport; the platform is the same.
_WAYS = ("_ssh", "_telnet", "_serial")


class PlatformRegistry:
    """The platforms by name and alias; made with those that ship with the product."""

    def __init__(self) -> None:
        self._by_name: dict[str, Platform] = {}
        self._names: dict[str, str] = {}
        self._slugs: dict[str, str] = {}
        self._for_readers: Platform | None = None
        for file_name, platform in _shipped():
            self._add(platform, file_name, override=False)

    def register(self, path: Traversable, *, override: bool = False) -> Platform:
        """Add the platform that the TOML file at `path` (a `pathlib.Path` too) defines.

        InvalidInput names the file and what is wrong with it. A name or alias that is taken already is
        refused, unless `override` says that the file stands for that platform from now on.
        """
        platform = self._with_inherited_forms(load_platform(path), path.name)
        platform = self._add(platform, path.name, override=override)
        self._share_kinds()
        return self._by_name[platform.name]

    def _add(self, platform: Platform, file_name: str, *, override: bool) -> Platform:
        for name in (platform.name, *platform.aliases):
            owner = self._names.get(name)
            if owner is not None and not (override and owner == platform.name):
                raise InvalidInput(f"{file_name}: the platform name {name!r} is taken by {owner!r} already")
        for slug in platform.slugs():
            owner = self._slugs.get(slug)
            if owner not in (None, platform.name):
                raise InvalidInput(f"{file_name}: the slug {slug!r} is taken by {owner!r} already")
        self._slugs = {slug: owner for slug, owner in self._slugs.items() if owner != platform.name}
        self._slugs.update(dict.fromkeys(platform.slugs(), platform.name))
        self._names = {name: owner for name, owner in self._names.items() if owner != platform.name}
        self._by_name[platform.name] = platform
        self._for_readers = None
        for name in (platform.name, *platform.aliases):
            self._names[name] = platform.name
        return platform

    def _with_inherited_forms(self, platform: Platform, file_name: str) -> Platform:
        """Return the platform with the forms of those that its `like` names, as far as they are registered by
        now.
        """
        return _resolved(platform, self._by_name, file_name)

    def _share_kinds(self) -> None:
        """Give each platform the lines of all; in copies, as other registries share those that ship."""
        kinds = _kinds(self._by_name.values())
        self._by_name = {name: replace(platform, kinds=kinds) for name, platform in self._by_name.items()}

    def replace_capture(self, name: str, items: Sequence[CaptureItem]) -> None:
        """Replace the parts that the platform reads by an operator's own list."""
        self._by_name[name] = replace(self._by_name[name], capture=tuple(items))

    def get(self, device_type: str) -> Platform:
        """Return the platform of a device_type or alias; `generic` for an unknown one."""
        return self._by_name[self._owner(device_type) or FALLBACK]

    def knows(self, device_type: str) -> bool:
        """Return whether a platform has that name or alias."""
        return self._owner(device_type) is not None

    def synonyms(self, device_type: str) -> tuple[str, ...]:
        """Return all names of the platform that has this one, sorted; the name alone if no platform
        has it.
        """
        owner = self._owner(device_type)
        if owner is None:
            return (device_type,)
        known = [name for name, platform in self._names.items() if platform == owner]
        return tuple(sorted({*known, *self._with_ways(known)}))

    @property
    def slugs(self) -> Mapping[str, str]:
        """The platform of every slug that inventories may call it by: device types, NetBox's, NAPALM's."""
        with_ways = {
            way.replace("_", "-"): self._names[name]
            for name in self._names
            for way in self._with_ways([name])
        }
        return MappingProxyType({**with_ways, **self._slugs})

    @property
    def for_readers(self) -> Platform:
        """Return the platform for redacting: `generic` with the secrets of all platforms.

        A user who may edit a device sets its device_type, and would so decide which platform's secrets are
        hidden.
        """
        if self._for_readers is None:
            found = chain.from_iterable(platform.secrets for platform in self._by_name.values())
            secrets = {item.pattern.pattern: item for item in found if not _is_announced(item)}
            visible = {item.pattern: item for platform in self._by_name.values() for item in platform.visible}
            self._for_readers = replace(
                self.get(FALLBACK), secrets=tuple(secrets.values()), visible=tuple(visible.values())
            )
            _ = (self._for_readers.any_secret, self._for_readers.any_long_secret)
        return self._for_readers

    def names(self) -> tuple[str, ...]:
        """Return the names of the platforms with a definition of their own, sorted."""
        return tuple(sorted(self._by_name))

    def _owner(self, device_type: str) -> str | None:
        if device_type in self._names:
            return self._names[device_type]
        way = next(filter(device_type.endswith, _WAYS), "")
        return self._names.get(device_type.removesuffix(way))

    def _with_ways(self, names: Iterable[str]) -> list[str]:
        """Return the names with each suffix of a way (`_telnet`, ...), without those that a platform has as
        its own.
        """
        bare = [name for name in names if not name.endswith(_WAYS)]
        return [name + way for name in bare for way in _WAYS if name + way not in self._names]


@cache
def _shipped() -> tuple[tuple[str, Platform], ...]:
    """Return the platforms that ship, with the names of their files.

    They never change; reading them is the slow part of a start.
    """
    folder = files("netautod.transport.ssh").joinpath("platforms")
    entries = sorted(folder.iterdir(), key=lambda item: item.name)
    read = {entry.name: load_platform(entry) for entry in entries if entry.name.endswith(".toml")}
    kinds = _kinds(read.values())
    known = {platform.name: platform for platform in read.values()}
    read = {name: _resolved(platform, known, name) for name, platform in read.items()}
    return tuple((name, replace(platform, kinds=kinds)) for name, platform in read.items())


def _resolved(platform: Platform, known: Mapping[str, Platform], file_name: str) -> Platform:
    """Return the platform with the forms and lines of those that its `like` names, which are in `known`."""
    known = {**known, platform.name: platform}
    grammars = {name: one.read_only for name, one in known.items()}
    lines = {name: one.change.lines for name, one in known.items() if one.change is not None}
    try:
        read_only = with_inherited_forms(platform.name, grammars)
        if platform.change is not None:
            found = with_inherited_forms(platform.name, lines, table="[change.lines]")
            platform = replace(platform, change=replace(platform.change, lines=found))
    except InvalidInput as exc:
        raise InvalidInput(f"{file_name}: {exc}") from exc
    return replace(platform, read_only=read_only)


def read_only_grammar(device_type: str, platforms: PlatformRegistry | None = None) -> ReadOnlyGrammar:
    """Return the read-only commands of a device_type or alias; those of `generic` for an unknown one.

    Without a registry, of the platforms that ship.
    """
    return (platforms or PlatformRegistry()).get(device_type).read_only


def _kinds(platforms: Iterable[Platform]) -> Mapping[str, tuple[re.Pattern[str], ...]]:
    return MappingProxyType({platform.name: platform.own for platform in platforms if platform.own})


def _is_announced(secret: SecretPattern) -> bool:
    """Return whether a word of the pattern announces the secret: then the general rule finds it on every
    platform.

    On lines of other platforms such a pattern would take other words for secrets.
    """
    before = re.sub(r"\(\?P<secret>.*", "", secret.pattern.pattern)
    words = re.findall(r"[A-Za-z][\w-]*", re.sub(r"\(\?\w*[:<]?|\\\w", " ", before))
    if words[-1:] == ["name"]:  # the names of communities, which other platforms write in other words
        return False
    kinds = [kind_of(word) for word in words]
    return secret.until is None and any(kind is not None and not kind.weak for kind in kinds)
