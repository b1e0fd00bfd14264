"""The check of schema files: verdicts, findings, impact, permissions."""
