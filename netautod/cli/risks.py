"""The lines of commands about insecure settings."""

from netautod.core.settings.field import SettingsError
from netautod.core.settings.risks import FoundRisks


def refuse(risks: FoundRisks) -> None:
    """Raise SettingsError, a line for each risk that is not accepted."""
    if not risks.refused:
        return
    names = ", ".join(f'"{risk.name}"' for risk in risks.refused)
    lines = [str(risk) for risk in risks.refused]
    lines.append(f"accept_risks = [{names}] in the settings makes warnings of this")
    raise SettingsError("\n".join(lines))
