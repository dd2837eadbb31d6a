"""Names and versions of installed distributions: reading their metadata parses the long description, too."""

from functools import lru_cache
from importlib.metadata import Distribution


@lru_cache(maxsize=256)
def name_of(distribution: Distribution) -> str:
    """Return the name in lower case."""
    return distribution.name.lower()


@lru_cache(maxsize=256)
def version_of(distribution: Distribution) -> str:
    return distribution.version
