"""A disk whose room a test decides on."""

from pathlib import Path

from netautod.core.disk import MIB, Space
from netautod.store.client import Database
from netautod.store.disk_room import Room

NEEDED_MIB = 500


class Disk:
    """`free` in MiB; a negative one cannot be looked at."""

    def __init__(self, free: int) -> None:
        self.free = free

    def __call__(self, directory: Path) -> Space:
        if self.free < 0:
            raise OSError("the server does not answer")
        return Space(directory=directory, free=self.free * MIB, total=1000 * MIB)

    def room(self, needed_mib: int = NEEDED_MIB) -> Room:
        """Its room for a database; only the collection `sessions` may grow without."""
        return Room(Path("/data"), needed_mib=needed_mib, exempt={"sessions"}, look=self)

    def under(self, database: Database) -> Room:
        """Puts the database onto it: the stores that are made from now on ask this room."""
        database.room = self.room()
        return database.room
