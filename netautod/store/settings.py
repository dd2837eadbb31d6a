"""The settings of the database."""

from dataclasses import dataclass

from netautod.core.settings.field import SettingsError, setting


@dataclass(frozen=True, kw_only=True)
class MongoDBSettings:
    uri: str = setting("", "MongoDB connection string (a replica set); empty: the service runs its own.")
    database: str = setting("netautod", "Name of the database.")
    timeout_seconds: float = setting(5.0, "Seconds to look for a writable server.", low=0.1)
    pool_size: int = setting(100, "Connections to the database at most.", low=5)

    def check(self) -> None:
        if self.uri and not self.uri.startswith(("mongodb://", "mongodb+srv://")):
            raise SettingsError("mongodb.uri must begin with mongodb:// or mongodb+srv://")
