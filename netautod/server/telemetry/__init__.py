"""Traces for a collector of OpenTelemetry, where the settings name one."""
