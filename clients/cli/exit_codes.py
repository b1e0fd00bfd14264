"""What the exit codes of every verb mean."""

from typing import Final

__all__ = ["CLEAN", "FINDINGS", "MISTAKE", "REFUSED", "UNREACHABLE", "USAGE"]

CLEAN: Final = 0
FINDINGS: Final = 1  #: incompatible, or violations beyond ``--fail-under``
USAGE: Final = 2  #: wrong arguments, an unreadable file or schema, a missing extra
UNREACHABLE: Final = 3  #: registry or broker
REFUSED: Final = 4  #: by mode or rights
MISTAKE: Final = 70  #: in contractlog itself; never the word on a schema or a record
