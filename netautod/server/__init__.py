"""The process: serving, supervision, stall watch, metrics listener, telemetry."""
