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
from netautod.http.routing.routes import Route

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z_]+)\.js";\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function (\w+))", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class StaticFile:
    name: str
    content: bytes
    compressed: bytes
    media_type: str


class StaticFiles:
    """The static files by name, without the hash.

    A script contains the scripts that it imports, so that one request loads all.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        imported = {f"{found[1]}.js" for text in texts.values() for found in _IMPORT.findall(text)}
        self._made = {name: _made(name, texts) for name in texts if name not in imported}
        self.by_path = {file.name: file for file in self._made.values()}

    @classmethod
    def read(cls) -> "StaticFiles":
        folder = files("netautod.console").joinpath("static")
        return cls({file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()})

    def path(self, name: str) -> str:
        """Return the address of the file for a page."""
        return f"/static/{self._made[name].name}"


def _made(name: str, texts: Mapping[str, str]) -> StaticFile:
    """Build the file, with the hash of its content in its name."""
    stem, _, kind = name.rpartition(".")
    content = ("".join(_modules(stem, texts, {}).values()) if kind == "js" else texts[name]).encode()
    return StaticFile(
        name=f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{kind}",
        content=content,
        compressed=gzip.compress(content, mtime=0),
        media_type=TYPES[kind],
    )


def _modules(name: str, texts: Mapping[str, str], done: dict[str, str]) -> dict[str, str]:
    """Return the script and before it those that it imports, each as a constant with the module's exports."""
    text = texts[f"{name}.js"]
    for _, other in _IMPORT.findall(text):
        if other not in done:
            _modules(other, texts, done)
    exports = ", ".join(_EXPORT.findall(text))
    own = _EXPORT.sub("", _IMPORT.sub(_taken, text))
    done[name] = f"const of_{name} = (() => {{\n{own}\nreturn {{{exports}}};\n}})();\n"
    return done


def _taken(found: re.Match[str]) -> str:
    return f"const {{{found[1].replace(' as ', ': ')}}} = of_{found[2]};\n"


class StaticHandler(JsonHandler):
    """A handler of static files: it needs no session and does not count against the client's limit."""

    static: StaticFiles

    @public(produces="text/css", limited=False)
    async def get(self, name: str) -> None:
        """Send a static file of the console."""
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
