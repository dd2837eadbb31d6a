"""The static files of the console: named by what they hold, so that browsers may keep them."""

import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from netautod.core.errors import NotFound
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_IMPORT = re.compile(r'(?<=from "\./)[a-z_]+\.js(?=")')


@dataclass(frozen=True, kw_only=True)
class StaticFile:
    name: str
    content: bytes
    compressed: bytes
    media_type: str


class StaticFiles:
    """Each by its name without the hash; scripts import each other by the names with it."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._made: dict[str, StaticFile] = {}
        for name in texts:
            self._make(name)
        self.by_path = {file.name: file for file in self._made.values()}

    @classmethod
    def read(cls) -> "StaticFiles":
        folder = files("netautod.console").joinpath("static")
        return cls({file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()})

    def path(self, name: str) -> str:
        """For a page to refer to it."""
        return f"/static/{self._made[name].name}"

    def _make(self, name: str) -> str:
        """The name with the hash of what it holds, names of others in it included."""
        if name not in self._made:
            content = _IMPORT.sub(lambda found: self._make(found[0]), self._texts[name]).encode()
            stem, _, kind = name.rpartition(".")
            self._made[name] = StaticFile(
                name=f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{kind}",
                content=content,
                compressed=gzip.compress(content, mtime=0),
                media_type=TYPES[kind],
            )
        return self._made[name].name


class StaticHandler(JsonHandler):
    """Needs no session and does not count for the client's address."""

    static: StaticFiles

    @public(produces="text/css", limited=False)
    async def get(self, name: str) -> None:
        """A file of the console."""
        file = self.static.by_path.get(name)
        if file is None:
            raise NotFound("Not found")
        self.set_header("Content-Type", file.media_type)
        self.set_header("Cache-Control", "public, max-age=31536000, immutable")
        self.set_header("Vary", "Accept-Encoding")
        if "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.finish(file.compressed)
        else:
            self.finish(file.content)


PAGES = (Route(path="/static/:name", handler=StaticHandler),)
