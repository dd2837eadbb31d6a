"""The routes of stored configs: pulls, versions, diffs, search, snapshots, the state of backups."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from netautod.core.errors import NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.configs.backups.info import BackupInfos
from netautod.network.configs.backups.models import BackupFilter
from netautod.network.configs.capture.pulls import BackgroundPulls, Pulls
from netautod.network.configs.models import Config, LineGroup, Match, Snapshot
from netautod.network.configs.schemas import (
    BackedUpDevicesAnswer,
    BackedUpDevicesQuery,
    BulkPullAnswer,
    BulkPullQuery,
    BulkPullRequest,
    ConfigAnswer,
    ConfigItem,
    ConfigsAnswer,
    ConfigsQuery,
    DiffAnswer,
    DiffDevicesQuery,
    DiffQuery,
    NotesRequest,
    PartAnswer,
    PullAnswer,
    ReadQuery,
    SearchAnswer,
    SearchQuery,
    SnapshotAnswer,
    SnapshotsAnswer,
    StartedPullAnswer,
)
from netautod.network.configs.search import ConfigSearch, LineSearch
from netautod.network.configs.service import NO_VERSION, ConfigService
from netautod.network.configs.snapshots import Snapshots
from netautod.network.configs.texts.line_pattern import LineQuery
from netautod.network.configs.texts.version_diff import DiffForm
from netautod.network.devices.models import DeviceFilter

READ = "devices.access"
PULL = "devices.manage"
SECRETS = "credentials.manage"
BYTES = "application/octet-stream"
VERSION_FORM = re.compile(r"[1-9][0-9]{0,8}")


def version_number(text: str) -> int:
    """Return the version number of a path; anything that is none is 404 like a missing version."""
    if VERSION_FORM.fullmatch(text) is None:
        raise NotFound(NO_VERSION)
    return int(text)


class VersionHandler(JsonHandler):
    @property
    def full(self) -> bool:
        """Return whether the caller gets hash and size of texts with their secrets."""
        return self.caller.can(SECRETS)


class ConfigHandler(VersionHandler):
    configs: ConfigService

    def device_id(self, text: str) -> str:
        return self.path_id(text, "Device")

    async def answer_config(self, device_id: str, version: int | None) -> None:
        found = await self.configs.read(
            self.caller, self.device_id(device_id), version, secrets=self.query["secrets"]
        )
        self.answer(found.to_json())


class ConfigsHandler(ConfigHandler):
    @requires(READ, query=ConfigsQuery, answer=ConfigsAnswer)
    async def get(self, device_id: str) -> None:
        """List the stored versions of a device's configuration, newest first; all without `limit`."""
        org_id, wanted, offset = self.caller.org_id, self.device_id(device_id), self.query["offset"]
        to_json = partial(Config.to_json, full=self.full)
        if self.query["limit"] is not None:
            found = await self.configs.page(org_id, wanted, Page(**self.query))
            self.answer(found.to_json("configs", to_json))
            return
        total, every = await self.configs.every(org_id, wanted, offset=offset)
        envelope = {"total": total, "limit": total, "offset": offset}
        self.answer_with_each(envelope, "configs", every, to_json)


class LatestConfigHandler(ConfigHandler):
    @requires(READ, query=ReadQuery, answer=ConfigAnswer, name="get_latest_device_config")
    async def get(self, device_id: str) -> None:
        """Read the newest version with its text."""
        await self.answer_config(device_id, None)


class OneConfigHandler(ConfigHandler):
    @requires(READ, query=ReadQuery, answer=ConfigAnswer)
    async def get(self, device_id: str, version: str) -> None:
        """Read one version with its text."""
        await self.answer_config(device_id, version_number(version))


class ConfigPartHandler(ConfigHandler):
    @requires(READ, query=ReadQuery, answer=PartAnswer)
    async def get(self, device_id: str, version: str, name: str) -> None:
        """Read a part that the device has beside its configuration, by the name that the version lists."""
        part, text = await self.configs.part(
            self.caller,
            self.device_id(device_id),
            version_number(version),
            name,
            secrets=self.query["secrets"],
        )
        self.answer({"name": part.name, "command": part.command, "text": text})


class RawConfigHandler(ConfigHandler):
    @requires(SECRETS, produces=BYTES)
    async def get(self, device_id: str, version: str) -> None:
        """Read the bytes of one version, secrets and all: what a restore needs. It is audited."""
        number = version_number(version)
        content = await self.configs.raw(self.caller, self.device_id(device_id), number)
        self.set_header("Content-Type", BYTES)
        self.set_header("Content-Disposition", f'attachment; filename="{device_id}-{number}.cfg"')
        self.finish(content)


class ConfigNotesHandler(ConfigHandler):
    @requires(PULL, body=NotesRequest, partial=True, answer=ConfigItem)
    async def put(self, device_id: str, version: str) -> None:
        """Set the notes of a version; null clears them."""
        wanted, number = self.device_id(device_id), version_number(version)
        config = await self.configs.set_notes(self.caller, wanted, number, self.body["notes"])
        self.answer(config.to_json(full=self.full))


class LearnedNoiseHandler(ConfigHandler):
    @requires(PULL, status=204)
    async def delete(self, device_id: str) -> None:
        """Forget what was learned to change by itself in the device's configs."""
        await self.configs.forget_noise(self.caller, self.device_id(device_id))
        self.answer_nothing()


class DiffHandler(ConfigHandler):
    @property
    def form(self) -> DiffForm:
        """Return the form of the diff that the query wants."""
        return DiffForm(context=self.query["context"], columns=self.query["format"] == "side_by_side")


class DiffConfigsHandler(DiffHandler):
    @requires(READ, query=DiffQuery, answer=DiffAnswer)
    async def get(self, device_id: str) -> None:
        """Compare two versions, by default the two newest."""
        found = await self.configs.diff(
            self.caller,
            self.device_id(device_id),
            self.query["old_version"],
            self.query["new_version"],
            secrets=self.query["secrets"],
            form=self.form,
        )
        self.answer(found.to_json())


class DiffDevicesHandler(DiffHandler):
    @requires(READ, query=DiffDevicesQuery, answer=DiffAnswer, errors=(404,), name="diff_devices")
    async def get(self) -> None:
        """Compare a version of one device with a version of another, by default the newest of each."""
        query = self.query
        found = await self.configs.diff_of_devices(
            self.caller,
            (query["old_device_id"], query["old_version"]),
            (query["new_device_id"], query["new_version"]),
            secrets=query["secrets"],
            form=self.form,
        )
        self.answer(found.to_json())


class PullConfigHandler(VersionHandler):
    pulls: Pulls

    @requires(PULL, answer=PullAnswer, errors=(502,), name="pull_device_config", repeat=Repeat.AGAIN)
    async def post(self, device_id: str) -> None:
        """Read the configuration of a device now."""
        captured = await self.pulls.one(self.caller, self.path_id(device_id, "Device"))
        self.answer({**captured.config.to_json(full=self.full), "changed": captured.changed})


class BulkPullHandler(JsonHandler):
    pulls: Pulls
    background: BackgroundPulls

    @requires(
        PULL,
        query=BulkPullQuery,
        body=BulkPullRequest,
        answer=BulkPullAnswer,
        other_answers={202: StartedPullAnswer},
        name="pull_configs",
        repeat=Repeat.FINDS,
    )
    async def post(self) -> None:
        """Read the configurations of many devices now; stops when the client goes away.

        With `background` it is an execution, which goes on without the client.
        """
        if self.query["background"]:
            started = await self.background.begin(self.caller, self.body["device_ids"], self.record_id)
            self.answer(started, status=202)
            return
        result = await self.while_connected(self.pulls.many(self.caller, self.body["device_ids"]))
        self.answer(result.to_json())


def search_of(org_id: OrgId, query: Mapping[str, Any]) -> tuple[LineSearch, Page]:
    """Return the search that a query describes, as SearchQuery has loaded it."""
    pattern = query.get("regex")
    wanted = LineQuery(text=query.get("q") or pattern or "", is_pattern=pattern is not None)
    narrowed = DeviceFilter(device_type=query.get("device_type"), site=query.get("site"))
    line_search = LineSearch(org_id=org_id, wanted=wanted, narrowed=narrowed, context=query["context"])
    return line_search, Page(limit=query["limit"], offset=query["offset"])


class SearchConfigsHandler(JsonHandler):
    search: ConfigSearch

    @requires(READ, query=SearchQuery, answer=SearchAnswer, name="search_configs")
    async def get(self) -> None:
        """Find lines in the newest configs of all devices: a plain text in any case, or a regex (RE2).

        What is searched and answered is redacted. Of a line the first 2,000 characters are answered. Of
        groups of equal lines those of the most devices come first.
        """
        line_search, page = search_of(self.caller.org_id, self.query)
        if self.query["group"] is not None:
            groups = await self.while_connected(self.search.groups(line_search, page))
            self.answer(groups.to_json("groups", LineGroup.to_json))
            return
        found = await self.while_connected(self.search.find(line_search, page))
        self.answer(found.to_json("matches", Match.to_json))


class DevicesWithBackupInfoHandler(VersionHandler):
    backups: BackupInfos

    @requires(
        READ,
        query=BackedUpDevicesQuery,
        answer=BackedUpDevicesAnswer,
        name="list_devices_with_backup_info",
        etag=True,
    )
    async def get(self) -> None:
        """List devices with the state of each backup, and count the states."""
        narrowed = dict(self.query)
        page = Page(limit=narrowed.pop("limit"), offset=narrowed.pop("offset"))
        sorting = narrowed.pop("sort")
        backups = BackupFilter(
            status=narrowed.pop("status", None),
            error_kind=narrowed.pop("error_kind", None),
            older_than_hours=narrowed.pop("older_than_hours", None),
        )
        found = await self.backups.page(
            self.caller.org_id, DeviceFilter(**narrowed), page, backups=backups, sorting=sorting
        )
        self.answer(found.as_json(full=self.full))


class SnapshotListHandler(JsonHandler):
    snapshots: Snapshots

    @requires(READ, query=PageQuery, answer=SnapshotsAnswer)
    async def get(self) -> None:
        """List the snapshots, newest first."""
        found = await self.snapshots.page(self.caller.org_id, Page(**self.query))
        self.answer(found.to_json("snapshots", Snapshot.to_json))


class OneSnapshotHandler(JsonHandler):
    snapshots: Snapshots

    @requires(READ, answer=SnapshotAnswer)
    async def get(self, snapshot_id: str) -> None:
        """Read a snapshot with the version of each device."""
        wanted = self.path_id(snapshot_id, "Snapshot")
        snapshot, configs = await self.snapshots.get(self.caller.org_id, wanted)
        self.answer({**snapshot.to_json(), "configs": [config.to_json() for config in configs]})


ROUTES = (
    Route(path="/api/config/devices/bulk-pull", handler=BulkPullHandler),
    Route(path="/api/config/devices/:device_id/pull", handler=PullConfigHandler),
    Route(path="/api/config/devices/:device_id/configs", handler=ConfigsHandler),
    Route(path="/api/config/devices/:device_id/configs/latest", handler=LatestConfigHandler),
    Route(path="/api/config/devices/:device_id/configs/:version", handler=OneConfigHandler),
    Route(path="/api/config/devices/:device_id/configs/:version/notes", handler=ConfigNotesHandler),
    Route(path="/api/config/devices/:device_id/configs/:version/parts/:name", handler=ConfigPartHandler),
    Route(path="/api/config/devices/:device_id/configs/:version/raw", handler=RawConfigHandler),
    Route(path="/api/config/devices/:device_id/diff", handler=DiffConfigsHandler),
    Route(path="/api/config/devices/:device_id/diff-versions", handler=DiffConfigsHandler),
    Route(path="/api/config/diff", handler=DiffDevicesHandler),
    Route(path="/api/config/search", handler=SearchConfigsHandler),
    Route(path="/api/config/snapshots", handler=SnapshotListHandler),
    Route(path="/api/config/snapshots/:id", handler=OneSnapshotHandler),
    Route(path="/api/devices/:id/learned-noise", handler=LearnedNoiseHandler),
    Route(path="/api/devices/with-backup-info", handler=DevicesWithBackupInfoHandler),
)
