"""The pages of configurations."""

from netautod.console.configs.differences import DiffPage
from netautod.console.configs.search import SearchPage
from netautod.console.configs.versions import (
    DownloadPage,
    NotesForm,
    PartPage,
    RawPage,
    RevealPage,
    RevealPartPage,
    VersionPage,
    VersionsPage,
)
from netautod.http.routing.routes import Route

PAGES = (
    Route(path="/configs/:device_id", handler=VersionsPage),
    Route(path="/configs/:device_id/diff", handler=DiffPage),
    Route(path="/configs/:device_id/:version", handler=VersionPage),
    Route(path="/configs/:device_id/:version/download", handler=DownloadPage),
    Route(path="/configs/:device_id/:version/notes", handler=NotesForm),
    Route(path="/configs/:device_id/:version/parts/:name", handler=PartPage),
    Route(path="/configs/:device_id/:version/parts/:name/reveal", handler=RevealPartPage),
    Route(path="/configs/:device_id/:version/raw", handler=RawPage),
    Route(path="/configs/:device_id/:version/reveal", handler=RevealPage),
    Route(path="/search", handler=SearchPage),
)
