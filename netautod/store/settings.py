"""The settings of the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.risks import RiskRule
from netautod.core.work.deadlines import REQUEST_SECONDS
from netautod.store.driver.uri import MongoUri


@dataclass(frozen=True, kw_only=True)
class MongoDBSettings:
    RISKS: ClassVar[tuple[RiskRule["MongoDBSettings"], ...]] = (
        RiskRule(
            name="mongodb-without-tls",
            cause="`mongodb.uri` names another machine, without TLS or with certificates unchecked",
            text="an attacker on the way to the database reads and changes all that goes there",
            found=lambda one: _elsewhere(one.uri, safe=MongoUri.parse(one.uri).verified_tls),
        ),
        RiskRule(
            name="mongodb-without-login",
            cause="`mongodb.uri` names another machine, without user and `authMechanism` in it",
            text="anyone who reaches the database reads and changes everything in it",
            found=lambda one: _elsewhere(one.uri, safe=MongoUri.parse(one.uri).login),
        ),
    )

    uri: str = setting(
        "", "MongoDB connection string (a replica set); empty: the service runs its own.", secret=True
    )
    database: str = setting("netautod", "Name of the database.")
    timeout_seconds: float = setting(
        REQUEST_SECONDS, "Seconds that a request waits for the database in all.", low=0.2
    )
    pool_size: int = setting(
        100, "Connections for requests, runs and bulk work at most; leases have 8 more.", low=5
    )

    def check(self) -> None:
        if self.uri and not self.uri.startswith(("mongodb://", "mongodb+srv://")):
            raise SettingsError("mongodb.uri must begin with mongodb:// or mongodb+srv://")


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    min_free_mb: int = setting(
        500,
        "MiB on the disk of the service's own database below which nothing that grows is written, so that "
        "the database goes on; 0: no limit.",
        low=0,
    )


def _elsewhere(uri: str, *, safe: bool) -> Sequence[str]:
    return () if safe else tuple(f"mongodb.uri: {host}" for host in MongoUri.parse(uri).elsewhere)
