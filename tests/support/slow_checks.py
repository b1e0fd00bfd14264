"""Schemas whose check takes as long as any can."""

from __future__ import annotations

import json

__all__ = ["many_branches"]


def many_branches(version: int, branches: int = 700) -> str:
    """Return a schema whose every branch has to be compared with every branch of another version."""
    found = [
        {
            "type": "object",
            "properties": {f"p{number}_{place}_{version}": {"type": "string"} for place in range(4)},
            "required": [f"p{number}_0_{version}"],
        }
        for number in range(branches)
    ]
    return json.dumps({"anyOf": found})
