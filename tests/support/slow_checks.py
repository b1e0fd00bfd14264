"""Schemas whose check takes as long as possible."""

from __future__ import annotations

import json

__all__ = ["create_many_branches"]


def create_many_branches(version: int, branches: int = 700) -> str:
    """Create a schema whose branches must each be compared with all branches of another version."""
    branch_schemas = [
        {
            "type": "object",
            "properties": {f"p{number}_{index}_{version}": {"type": "string"} for index in range(4)},
            "required": [f"p{number}_0_{version}"],
        }
        for number in range(branches)
    ]
    return json.dumps({"anyOf": branch_schemas})
