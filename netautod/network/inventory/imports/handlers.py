"""The routes of imports."""

from typing import Any

from netautod.http.access import Repeat, requires
from netautod.http.bodies.uploads import uploaded_file
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.inventory.imports.csv_rows import CsvFile
from netautod.network.inventory.imports.json_rows import JsonFile
from netautod.network.inventory.imports.models import MOST_BYTES, RowError, RowFile
from netautod.network.inventory.imports.schemas import (
    CSV_FILE,
    FILE_FIELD,
    JSON_ROWS,
    ImportAnswer,
    ImportQuery,
)
from netautod.network.inventory.imports.service import ImportService

MANAGE = "devices.manage"


class ImportHandler(JsonHandler):
    imports: ImportService

    async def answer_import(self, file: RowFile) -> None:
        result = await self.imports.run(self.caller, file, dry_run=self.query["dry_run"])
        answer: dict[str, Any] = {"imported": result.imported, "failed": result.failed}
        if result.warnings:
            answer["warnings"] = [warning.to_json() for warning in result.warnings]
        await self.answer_with_list(answer, "errors", map(RowError.to_json, result.errors))


class ImportJsonHandler(ImportHandler):
    @requires(
        MANAGE,
        query=ImportQuery,
        consumes=JSON_ROWS,
        answer=ImportAnswer,
        body_limit=MOST_BYTES,
        name="import_devices_json",
        repeat=Repeat.AGAIN,
    )
    async def post(self) -> None:
        """Create devices from an array of rows; rows that fail are listed."""
        await self.answer_import(JsonFile(self.take_body()))


class ImportCsvHandler(ImportHandler):
    @requires(
        MANAGE,
        query=ImportQuery,
        consumes=CSV_FILE,
        answer=ImportAnswer,
        body_limit=MOST_BYTES,
        name="import_devices_csv",
        repeat=Repeat.AGAIN,
    )
    async def post(self) -> None:
        """Create devices from the rows of a CSV file; rows that fail are listed."""
        content_type = self.request.headers.get("Content-Type", "")
        await self.answer_import(CsvFile(await uploaded_file(self.take_body(), content_type, FILE_FIELD)))


ROUTES = (
    Route(path="/api/devices/import/json", handler=ImportJsonHandler),
    Route(path="/api/devices/import/csv", handler=ImportCsvHandler),
)
