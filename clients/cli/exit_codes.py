"""Exit codes of all verbs."""

from typing import Final

__all__ = ["CLEAN", "FINDINGS", "INTERNAL_ERROR", "REFUSED", "UNREACHABLE", "USAGE"]

CLEAN: Final = 0
FINDINGS: Final = 1  #: incompatible, or violations beyond ``--fail-under``
USAGE: Final = 2  #: wrong arguments, an unreadable file or schema, a missing extra
UNREACHABLE: Final = 3  #: registry or broker unreachable
REFUSED: Final = 4  #: not allowed by the mode or the permissions
INTERNAL_ERROR: Final = 70  #: a defect of contractlog; no verdict on a schema or a record
