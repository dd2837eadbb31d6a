"""The conversion of view models into HTML: all values are made visible and escaped, in every template."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from markupsafe import Markup

from netautod.console.base.static import StaticFiles
from netautod.console.base.words import counted, in_words, option
from netautod.core.json.values import to_text
from netautod.core.text.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment


class Renderer:
    """A renderer that reads each template once.

    A name that a template does not have is an error, not an empty text.
    """

    def __init__(self, static: StaticFiles, chapters: Mapping[str, str]) -> None:
        """Take the static files and the `chapters`: pages of the manual by the route of the page that they
        explain.
        """
        self._static = static
        self._chapters = chapters

    async def load(self) -> None:
        """Load the template engine before the first page, off the event loop, because that takes a while.

        A service whose users only use the API never loads it and saves the memory.
        """
        if "_environment" not in self.__dict__:
            await asyncio.to_thread(lambda: self._environment)

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        return self._environment.get_template(template).render(values)

    def _help_of(self, route: str) -> str:
        """Return the address of the chapter of a page; the index for an error and for the manual itself."""
        chapter = self._chapters.get(route)
        return "/help" if chapter is None else f"/help/{chapter}"

    @cached_property
    def _environment(self) -> "Environment":
        from jinja2 import Environment, PackageLoader, StrictUndefined

        from netautod.console.base.visible import FormControls, form_value, visible

        environment = Environment(
            loader=PackageLoader("netautod.console"),
            autoescape=True,
            extensions=[FormControls],
            finalize=visible,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            cache_size=-1,
        )
        environment.globals.update(static=self._static.path, with_query=with_query, help_of=self._help_of)
        environment.filters.update(
            moment=moment,
            clock=clock,
            number=number,
            size=size,
            path_segment=path_segment,
            age=age,
            lasted=lasted,
            form_value=form_value,
            one_line=printable,
            duration=duration,
            pair=pair,
            words=in_words,
            option=option,
            counted=counted,
        )
        return environment


def moment(value: datetime | None) -> Markup:
    """Render a point in time: scripts show it in the zone of the browser, and the title has it in UTC."""
    if value is None:
        return Markup('<span class="none">-</span>')
    utc = value.astimezone(UTC)
    shown = f"{utc:%Y-%m-%d %H:%M:%S}"
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(to_text(utc), shown, shown[:16])


def clock(value: datetime) -> Markup:
    """Render the time of day to the second, for lines of a log whose day is known."""
    shown = f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    return Markup('<time datetime="{}" title="{} UTC" data-clock>{}</time>').format(
        to_text(value), shown, shown[11:]
    )


def lasted(seconds: float) -> str:
    """Format a duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60:,} h {minutes % 60:02} min"


def age(value: datetime | None, now: datetime) -> str:
    """Return the time since `value` in its largest unit: `3 h`, `12 d`; empty if there is no value."""
    if value is None:
        return ""
    seconds = max(0, int((now - value).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:,} {unit}"
    return f"{seconds} s"


def duration(seconds: int) -> str:
    """Format seconds in their two largest units: `12 d 3 h`."""
    parts, rest = list[str](), seconds
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count:,} {unit}")
    return " ".join(parts[:2]) or "0 s"


def number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Format bytes with binary prefixes (IEC 80000-13)."""
    if value is None:
        return "-"
    amount, unit = float(value), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


def pair(text: str) -> tuple[str, str]:
    """Return a choice whose value is also its text."""
    return text, text


def path_segment(text: str) -> str:
    return quote(text, safe="")


def with_query(path: str, query: Mapping[str, str], **changed: object) -> str:
    """Return the path with these query parameters; those that are None or empty are left out."""
    merged = {**query, **changed}
    kept = {name: value for name, value in merged.items() if value is not None and value != ""}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path
