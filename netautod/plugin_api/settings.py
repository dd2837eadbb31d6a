"""The declaration of settings that a plugin reads from its own section.

A section is a frozen dataclass whose fields are made by `setting`. If it has a method `check`, that is called
once all fields are read, and raises `SettingsError` with one line that names the key. A class variable
`RISKS` of it, a tuple of `RiskRule`, says which values are insecure.
"""

from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.risks import RiskRule

__all__ = ["RiskRule", "SettingsError", "setting"]
