"""What the archive holds, loaded into an empty database and a data folder."""

import json
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bson
from pymongo import MongoClient

ARCHIVE = Path(__file__).parent / "earlier_commit.tar.xz"
FILES = ("master.key", "initial-admin-password")
MADE = "made.json"
DUMPED = "dump"


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """`made`: ids and values by what they are of, as `populate` answers them."""

    made: dict[str, Any]
    files: dict[str, bytes]

    @classmethod
    def read(cls) -> "Earlier":
        with tarfile.open(ARCHIVE) as tar:
            read = {entry.name: tar.extractfile(entry) for entry in tar.getmembers()}
            files = {name: file.read() for name, file in read.items() if file is not None}
        return cls(made=json.loads(files[MADE]), files=files)

    @property
    def collections(self) -> list[str]:
        return sorted(Path(name).stem for name in self.files if name.endswith(".bson"))

    def load(self, uri: str, database: str) -> None:
        client: MongoClient[Any] = MongoClient(uri)
        with client:
            for name in self.collections:
                collection = client[database][name]
                documents = bson.decode_all(self.files[f"{DUMPED}/{name}.bson"])
                if documents:
                    collection.insert_many(documents)
                for index in bson.decode(self.files[f"{DUMPED}/{name}.indexes"])["indexes"]:
                    options = {key: value for key, value in index.items() if key not in ("v", "key")}
                    if options["name"] != "_id_":
                        collection.create_index(list(index["key"].items()), **options)

    def put_files(self, data_dir: Path) -> None:
        data_dir.mkdir()
        for name in FILES:
            descriptor = os.open(data_dir / name, os.O_WRONLY | os.O_CREAT, 0o600)
            with open(descriptor, "wb") as file:
                file.write(self.files[name])
