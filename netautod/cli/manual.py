"""The command `netautod help`: prints a page, a section or the index of the manual, without settings."""

import argparse
import sys
from collections.abc import Sequence

from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput
from netautod.manual.library import INDEX, Manual, Match
from netautod.manual.page import Page

_MOST_MATCHES = 20


def add(commands: Commands) -> None:
    parser = commands.add_without_settings("help", _help, "print a page of the manual")
    parser.add_argument(
        "topic",
        nargs="*",
        metavar="TOPIC",
        help="a page such as `upgrade` or `operate/upgrade`, or words to search for; default: the index",
    )


def _help(parsed: argparse.Namespace) -> int:
    """Exit code 2 if the manual has nothing on the topic, or several pages of that name."""
    manual, topic = Manual.installed(), " ".join(parsed.topic)
    named = manual.named(topic or INDEX)
    if len(named) > 1:
        raise InvalidInput(f"{topic!r} is the name of several pages:\n{_listed(named)}")
    if named:
        _print(named[0].text)
    else:
        _print_matches(manual, topic)
    return 0


def _print_matches(manual: Manual, topic: str) -> None:
    """Print the section if the words fit one heading, else a list. Raises InvalidInput if nothing fits."""
    matches = manual.search(topic)
    if not matches:
        nearest = manual.nearest(topic) or [manual.pages[INDEX]]
        raise InvalidInput(f"the manual has nothing on {topic!r}; the nearest pages are:\n{_listed(nearest)}")
    headings = [match for match in matches if match.in_heading]
    exact = [match for match in headings if match.section.heading.casefold() == topic.casefold()] or headings
    if len(exact) == 1:
        match = exact[0]
        say(f"{match.page.name}:")
        say()
        _print(match.page.section_text(match.section))
    else:
        _print_list(topic, headings or matches)


def _print_list(topic: str, matches: Sequence[Match]) -> None:
    say(f"{len(matches)} sections on {topic!r}:")
    for match in matches[:_MOST_MATCHES]:
        say(f"  {match.page.name}: {match.section.heading}")
    if len(matches) > _MOST_MATCHES:
        say(f"  and {len(matches) - _MOST_MATCHES} more; add a word")
    say("print one with: netautod help PAGE, or netautod help WORDS OF ITS HEADING")


def _listed(pages: Sequence[Page]) -> str:
    return "\n".join(f"  netautod help {page.name}  ({page.title})" for page in pages)


def _print(text: str) -> None:
    """Print text of the package as it is: `say` is for texts that others may have written."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
