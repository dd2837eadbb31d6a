"""The ways out of the service: command lines of devices and guarded HTTP."""
