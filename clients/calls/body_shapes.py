"""Shapes of response bodies: the types of the members that are read, which a server may get wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["ASSOCIATION", "CONFIG", "DEK", "KEK", "SCHEMA", "VERSION", "require_shape"]

_ANY_NAME: Final = "*"  #: key of a shape: any member

_TEXTS: Final = [str]
_METADATA: Final = {"tags": {_ANY_NAME: _TEXTS}, "properties": {_ANY_NAME: str}, "sensitive": _TEXTS}
_RULE: Final = {
    **dict.fromkeys(("name", "doc", "kind", "mode", "type", "expr", "onSuccess", "onFailure"), str),
    "tags": _TEXTS,
    "params": {_ANY_NAME: str},
}
_RULE_SET: Final = {"migrationRules": [_RULE], "domainRules": [_RULE], "encodingRules": [_RULE], "enableAt": str}

#: A schema, also with the facts about it as a version of a subject.
SCHEMA: Final = {
    **dict.fromkeys(("subject", "guid", "schema", "schemaType"), str),
    **dict.fromkeys(("id", "version", "ts"), int),
    "references": [{"name": str, "subject": str, "version": int}],
    "metadata": _METADATA,
    "ruleSet": _RULE_SET,
}
VERSION: Final = ("id", "version")  #: the members that a version of a subject always has
CONFIG: Final = {
    **dict.fromkeys(("compatibilityLevel", "compatibility", "compatibilityPolicy", "contractlogPolicy"), str),
    **dict.fromkeys(("alias", "aliasForDeks", "compatibilityGroup"), str),
    **dict.fromkeys(("normalize", "validateFields", "validateNewSchemas", "validateRules", "strictJsonSchemas"), bool),
    **dict.fromkeys(("defaultMetadata", "overrideMetadata"), _METADATA),
    **dict.fromkeys(("defaultRuleSet", "overrideRuleSet"), _RULE_SET),
}
ASSOCIATION: Final = {
    **dict.fromkeys(("subject", "guid", "resourceName", "resourceNamespace", "resourceId", "resourceType"), str),
    **dict.fromkeys(("associationType", "lifecycle"), str),
    "frozen": bool,
    **dict.fromkeys(("createTs", "updateTs"), int),
}
KEK: Final = {
    **dict.fromkeys(("name", "kmsType", "kmsKeyId", "doc"), str),
    "kmsProps": {_ANY_NAME: str},
    **dict.fromkeys(("shared", "deleted"), bool),
    "ts": int,
}
DEK: Final = {
    **dict.fromkeys(("kekName", "subject", "algorithm", "encryptedKeyMaterial", "keyMaterial"), str),
    **dict.fromkeys(("version", "ts"), int),
    "deleted": bool,
}


def require_shape(value: Any, shape: Any) -> None:
    """Require that a value and its members have the types of a shape; members may be absent or null.

    Raises:
        TypeError: one has another type.
    """
    if isinstance(shape, list):
        _require_type(value, list)
        for item in value:
            require_shape(item, shape[0])
    elif isinstance(shape, Mapping):
        _require_type(value, dict)
        for name, member in value.items():
            expected = shape.get(_ANY_NAME) or shape.get(name)
            if member is not None and expected is not None:
                require_shape(member, expected)
    else:
        _require_type(value, shape)


def _require_type(value: Any, expected: type) -> None:
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        raise TypeError(f"a response has a member of another type than {expected.__name__}")
