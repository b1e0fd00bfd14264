"""A contract in another version of ODCS: a custom property keeps what that version cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.odcs.validator import validate_contract

__all__ = ["KEPT_MEMBERS", "fit_version", "restore_members"]

KEPT_MEMBERS: Final = "contractlogKeptMembers"
"""Custom property of a contract with the members that a version cannot say, in the order of their removal."""

_MAX_PASSES: Final = 64
#: words of later versions, with the nearest word of all versions
_EARLIER_TYPES: Final = {"timestamp": "date", "time": "string", "map": "object", "vector": "array"}
_SAME: Final = {"rule": "metric", "metric": "rule"}
_BLOCKING: Final = frozenset(
    {ContractCheck.MISSING, ContractCheck.UNKNOWN, ContractCheck.VALUE, ContractCheck.TYPE_MISSING}
)


def fit_version(document: dict[str, Any], version: str) -> tuple[dict[str, Any], list[ContractFinding]]:
    """Return a contract that is valid in a version, and a finding for each member that is kept apart.

    Findings of severity ERROR remain where the contract is not valid in any version.
    """
    fitted = {**deepcopy(document), "apiVersion": version}
    records: list[dict[str, Any]] = []
    for _ in range(_MAX_PASSES):
        findings = [each for each in validate_contract(fitted, None) if each.check in _BLOCKING]
        removed: set[DocumentPath] = set()
        repairs = [list(_repair(fitted, finding, removed)) for finding in reversed(findings)]
        records += [record for each in repairs for record in each]
        if not any(repairs):
            break
    if records and document.get("apiVersion") != version:
        records.append({"path": ["apiVersion"], "value": document.get("apiVersion"), "replacedBy": version})
    if records:
        if "customProperties" not in fitted:
            records.append({"path": ["customProperties"], "absent": True})
        fitted.setdefault("customProperties", []).append({"property": KEPT_MEMBERS, "value": records})
    return fitted, [*findings, *_describe(records, version)]


def restore_members(document: dict[str, Any]) -> tuple[dict[str, Any], list[ContractFinding]]:
    """Return a contract with the members that ``fit_version`` kept apart.

    There is a finding for each that cannot return.
    """
    properties = document.get("customProperties")
    entries = [each for each in properties if _is_kept(each)] if isinstance(properties, list) else []
    if not entries:
        return document, []
    restored = deepcopy(document)
    restored["customProperties"] = [each for each in restored["customProperties"] if not _is_kept(each)]
    findings = []
    for record in reversed([record for each in entries for record in each["value"]]):
        if not _apply(restored, record):
            message = f"has a record that does not fit the contract any more: {str(record)[:200]}"
            findings.append(ContractFinding(("customProperties",), ContractCheck.KEPT, message, Severity.WARNING))
    return restored, findings


def _is_kept(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("property") == KEPT_MEMBERS and isinstance(entry.get("value"), list)


def _repair(document: dict[str, Any], finding: ContractFinding, removed: set[DocumentPath]) -> Iterator[dict[str, Any]]:
    """Make a member valid that a finding is about, and yield what brings back the former state.

    Args:
        document: the contract, which is changed.
        finding: the finding; those about later members of a list come first.
        removed: paths that are removed already.
    """
    path = finding.path
    if any(path[:length] in removed for length in range(1, len(path) + 1)):
        return
    holder = _find_holder(document, path)
    if not path or holder is None:
        return
    name = path[-1]
    if finding.check is ContractCheck.TYPE_MISSING:
        holder[name] = "object" if "properties" in holder else "array" if "items" in holder else "string"
        yield {"path": list(path), "absent": True}
    elif finding.check is ContractCheck.MISSING and path == ("status",):
        holder[name] = "draft"
        yield {"path": list(path), "absent": True}
    elif finding.check is ContractCheck.MISSING and name in _SAME and _SAME[str(name)] in holder:
        former = _SAME[str(name)]
        holder[name] = holder.pop(former)
        yield {"path": [*path[:-1], former], "value": holder[name]}
        yield {"path": list(path), "absent": True}
    elif finding.check is ContractCheck.MISSING:
        yield from _remove(document, path[:-1], removed)
    elif name == "logicalType" and str(holder.get(name)) in _EARLIER_TYPES:
        value, holder[name] = holder[name], _EARLIER_TYPES[holder[name]]
        yield {"path": list(path), "value": value, "replacedBy": holder[name]}
    elif path == ("team",) and isinstance(holder[name], dict) and isinstance(holder[name].get("members"), list):
        value, holder[name] = holder[name], deepcopy(holder[name]["members"])
        yield {"path": list(path), "value": value, "replacedBy": deepcopy(holder[name])}
    else:
        yield from _remove(document, path, removed)


def _remove(document: dict[str, Any], path: DocumentPath, removed: set[DocumentPath]) -> Iterator[dict[str, Any]]:
    holder = _find_holder(document, path)
    if holder is not None and path[-1] in (holder if isinstance(holder, dict) else range(len(holder))):
        removed.add(path)
        yield {"path": list(path), "value": holder.pop(path[-1])}


def _find_holder(document: Any, path: DocumentPath) -> Any:
    """Return the object or list that has, or would have, the last step of a path; None if there is none."""
    for step in path[:-1]:
        if isinstance(document, dict) and isinstance(step, str):
            document = document.get(step)
        elif isinstance(document, list) and isinstance(step, int) and 0 <= step < len(document):
            document = document[step]
        else:
            return None
    fits = (dict, str) if path and isinstance(path[-1], str) else (list, int)
    return document if isinstance(document, fits[0]) and path and isinstance(path[-1], fits[1]) else None


def _apply(document: dict[str, Any], record: Any) -> bool:
    """Bring back what a record says; return whether that is possible."""
    if not isinstance(record, dict) or not isinstance(record.get("path"), list) or not record["path"]:
        return False
    *_, name = path = tuple(record["path"])
    holder = _find_holder(document, path)
    if holder is None:
        return False
    return _insert(holder, name, record) if isinstance(holder, list) else _set(holder, name, record)


def _insert(holder: list[Any], index: int, record: dict[str, Any]) -> bool:
    if "value" in record:
        holder.insert(index, record["value"])
    return "value" in record


def _set(holder: dict[str, Any], name: str, record: dict[str, Any]) -> bool:
    if record.get("absent") is True:
        if name == "customProperties" and holder.get(name):
            return True  # others have been added
        return holder.pop(name, None) is not None
    if "replacedBy" in record:
        if name not in holder or holder[name] != record["replacedBy"]:
            return False
    elif name in holder:
        return False
    holder[name] = record.get("value")
    return True


def _describe(records: list[dict[str, Any]], version: str) -> Iterator[ContractFinding]:
    for record in records:
        if "value" in record and record["path"] != ["apiVersion"]:
            message = f"has no equal in ODCS {version.removeprefix('v')}: kept in the custom property {KEPT_MEMBERS}"
            yield ContractFinding(tuple(record["path"]), ContractCheck.KEPT, message, Severity.NOTE)
