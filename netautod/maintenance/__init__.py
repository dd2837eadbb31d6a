"""Backup and restore, the doctor, deletion of organizations."""
