"""Validation of SARIF with a model generated from the official JSON Schema, and further rules.

``pydantic-sarif`` is a strict model, generated from the official JSON Schema of version 2.1.0: required and unknown
properties, types, enumerations, bounds and patterns. It lacks what the generator does not translate: unique items,
``anyOf``, and that an optional property is absent and not null. ``SARIF`` below adds these for the part that code
scanning reads.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from jsonschema import Draft202012Validator
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog


def closed_object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """Return the schema of an object with these properties only."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def several(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


TEXT: Final = {"type": "string"}
POSITIVE: Final = {"type": "integer", "minimum": 1}
LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}
MESSAGE: Final = closed_object({"text": TEXT, "markdown": TEXT, "id": TEXT, "arguments": several(TEXT)}, "text")
MULTIFORMAT: Final = closed_object({"text": TEXT, "markdown": TEXT}, "text")
ARTIFACT_LOCATION: Final = closed_object(
    {"uri": TEXT, "uriBaseId": TEXT, "index": {"type": "integer", "minimum": -1}, "description": MESSAGE}
)
REGION: Final = closed_object(
    dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), POSITIVE) | {"message": MESSAGE}
)
PHYSICAL: Final = closed_object({"artifactLocation": ARTIFACT_LOCATION, "region": REGION})
LOGICAL: Final = closed_object({"name": TEXT, "fullyQualifiedName": TEXT, "decoratedName": TEXT, "kind": TEXT})
LOCATION: Final = closed_object({"physicalLocation": PHYSICAL, "logicalLocations": several(LOGICAL, uniqueItems=True)})
RULE: Final = closed_object(
    {
        "id": TEXT,
        "name": TEXT,
        "shortDescription": MULTIFORMAT,
        "fullDescription": MULTIFORMAT,
        "help": MULTIFORMAT,
        "helpUri": TEXT,
        "defaultConfiguration": closed_object({"level": LEVEL, "enabled": {"type": "boolean"}}),
    },
    "id",
)
RESULT: Final = closed_object(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": -1},
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": several(LOCATION),
        "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
        "fingerprints": {"type": "object", "additionalProperties": TEXT},
    },
    "message",
)
NOTIFICATION: Final = closed_object({"message": MESSAGE, "level": LEVEL, "locations": several(LOCATION)}, "message")
RUN: Final = closed_object(
    {
        "tool": closed_object(
            {
                "driver": closed_object(
                    {
                        "name": TEXT,
                        "version": TEXT,
                        "semanticVersion": TEXT,
                        "informationUri": TEXT,
                        "rules": several(RULE, uniqueItems=True),
                    },
                    "name",
                )
            },
            "driver",
        ),
        "invocations": several(
            closed_object(
                {"executionSuccessful": {"type": "boolean"}, "toolExecutionNotifications": several(NOTIFICATION)},
                "executionSuccessful",
            )
        ),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {"type": "object", "additionalProperties": ARTIFACT_LOCATION},
        "results": several(RESULT),
    },
    "tool",
)

#: The part of SARIF that code scanning reads, written after the text of the specification, version 2.1.0, sections 3.13
#: to 3.58: names, types, required and allowed properties. It is stricter than the official JSON Schema, which allows
#: further properties that we do not write.
SARIF: Final = closed_object({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": several(RUN)}, "version", "runs")

_VALIDATOR: Final = Draft202012Validator(SARIF)
_URI_REFERENCE: Final = re.compile(r"(?:file:///)?(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+")  # RFC 3986


@dataclass(frozen=True)
class SarifResult:
    """A result with one location."""

    rule: str
    level: str
    path: str
    line: int | None
    column: int | None
    message: str
    fingerprint: str


@dataclass(frozen=True)
class SarifRun:
    """The only run of a log."""

    rules: dict[str, str]  #: full description by id
    results: list[SarifResult]
    notifications: list[str]
    completed: bool


def read_sarif(text: str) -> SarifRun:
    """Read a SARIF log with one run, and check it as strictly as the standard allows."""
    assert text.isascii()
    SarifLog.model_validate_json(text, strict=True)
    log = json.loads(text)
    _VALIDATOR.validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    results = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        assert _URI_REFERENCE.fullmatch(artifact["uri"]), artifact
        assert ("uriBaseId" in artifact) == (not artifact["uri"].startswith("file:///"))
        assert artifact.get("uriBaseId") in {None, *run["originalUriBaseIds"]}
        region = location["physicalLocation"].get("region", {})
        assert "startLine" in region or not region
        results.append(
            SarifResult(
                result["ruleId"],
                result["level"],
                unquote_to_bytes(artifact["uri"].removeprefix("file://")).decode("utf-8", "surrogateescape"),
                region.get("startLine"),
                region.get("startColumn"),
                result["message"]["text"],
                *result["partialFingerprints"].values(),
            )
        )
    assert len({result.fingerprint for result in results}) == len(results)
    (invocation,) = run["invocations"]
    return SarifRun(
        {rule["id"]: rule["fullDescription"]["text"] for rule in rules},
        results,
        [each["message"]["text"] for each in invocation["toolExecutionNotifications"]],
        invocation["executionSuccessful"],
    )
