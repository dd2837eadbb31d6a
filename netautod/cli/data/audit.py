"""The commands `netautod audit ...`: verifying the chains of audit events, and exporting them."""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from marshmallow import ValidationError

from netautod.activity.audit.chain.export import check_lines, exported
from netautod.activity.audit.chain.links import Link
from netautod.activity.audit.chain.verifying import Verdict, verify
from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import Installation
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened, organization_named
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.core.schema.bases import QueryTimestamp

_LINK = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


def add(commands: Commands) -> None:
    group = commands.group("audit", "verify and export the audit events")
    parser = group.add("verify", _verify, "look for audit events that were changed, inserted or are missing")
    parser.add_argument("--organization", metavar="NAME", help="only this organization")
    parser.add_argument(
        "--expect",
        type=_link,
        metavar="NUMBER:HASH",
        help="newest event of an earlier verify, kept outside of the database",
    )
    parser.add_argument("--file", metavar="FILE", help="verify an export instead (- is the standard input)")
    parser = group.add("export", _export, "write the audit events as JSON lines")
    parser.add_argument(
        "--since", type=_moment, metavar="TIME", help="ISO 8601, such as 2026-01-31T00:00:00Z"
    )
    parser.add_argument("--until", type=_moment, metavar="TIME", help="events before then")
    parser.add_argument("--organization", metavar="NAME", help="only this organization")


def _verify(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if anything is wrong with any chain."""
    if parsed.file is not None:
        return _verify_file(parsed.file)
    verdicts = asyncio.run(_verdicts(configuration.settings, parsed.organization, parsed.expect))
    for name, verdict in verdicts:
        _print_verdict(name, verdict)
    return 1 if any(verdict.faults for _, verdict in verdicts) else 0


async def _verdicts(
    settings: Settings, organization: str | None, expected: Link | None
) -> list[tuple[str, Verdict]]:
    async with opened(settings) as installation:
        if expected is not None and organization is None:
            organization = (await organization_named(installation.people.organizations, None)).name
        chains, names = installation.stores.audit.chains, await _names(installation)
        return [
            (names.get(org_id, org_id), await verify(chains, org_id, expected=expected))
            for org_id in await _wanted(installation, organization)
        ]


async def _names(installation: Installation) -> dict[OrgId, str]:
    return {each.id: each.name for each in await installation.people.organizations.all()}


async def _wanted(installation: Installation, organization: str | None) -> list[OrgId]:
    """Return the organization of that name; without a name all that have events, also deleted ones."""
    if organization is None:
        return await installation.stores.audit.chains.organizations()
    return [(await installation.people.organizations.by_name(organization)).id]


def _print_verdict(name: str, verdict: Verdict) -> None:
    deleted = f", {verdict.deleted} deleted at their age" if verdict.deleted else ""
    state = "whole" if not verdict.faults else f"NOT whole, {verdict.faults} faults"
    say(f"{name}: {state}; {verdict.events} events{deleted}; newest {_noted(verdict.newest)}")
    for sentence in verdict.sentences:
        say(f"  {sentence}")
    if verdict.faults > len(verdict.sentences):
        say(f"  and {verdict.faults - len(verdict.sentences)} more")


def _verify_file(path: str) -> int:
    if path == "-":
        return _print_file(sys.stdin)
    try:
        with open(path, encoding="utf-8") as lines:
            return _print_file(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error


def _print_file(lines: Iterable[str]) -> int:
    """Print the check of an export, which names the organization of each of its chains by its id."""
    checks = check_lines(lines)
    for org_id, check in checks.items():
        state = "whole" if not check.faults else f"NOT whole, {check.faults} faults"
        say(f"{org_id}: {state}; {check.events} events; newest {_noted(check.last)}")
        for sentence in check.sentences:
            say(f"  {sentence}")
    return 1 if any(check.faults for check in checks.values()) else 0


def _export(parsed: argparse.Namespace, configuration: Configuration) -> int:
    asyncio.run(_write_export(configuration.settings, parsed.organization, parsed.since, parsed.until))
    return 0


async def _write_export(
    settings: Settings, organization: str | None, since: datetime | None, until: datetime | None
) -> None:
    async with opened(settings) as installation:
        chains = installation.stores.audit.chains
        for org_id in await _wanted(installation, organization):
            async for line in exported(chains, org_id, since=since, until=until):
                # In ASCII: names may hold what a terminal obeys.
                sys.stdout.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n")


def _noted(link: Link) -> str:
    return f"{link.seq}:{link.hash}"


def _link(text: str) -> Link:
    found = _LINK.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError("NUMBER:HASH as verify prints it, such as 17:3f9a...")
    return Link(seq=int(found[1]), hash=found[2])


def _moment(text: str) -> datetime:
    try:
        moment: Any = QueryTimestamp().deserialize(text)
    except ValidationError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    assert isinstance(moment, datetime)
    return moment
