"""Encryption keys of a running registry, read over the reference's REST API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from contractlog.clients.calls import Call
from contractlog.compatibility.errors import Forbidden, RegistryError, Unauthorized
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.features.dek_registry.keks import MAX_KEYS
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.transferred_keys import parse_dek, parse_kek

__all__ = ["RestKeyReader"]

_ABSENT: Final = frozenset({"400", "404", "405", "422"})  #: responses for what does not exist or is unsupported


class RestKeyReader:
    """Reads KEKs, and DEKs as they are stored; plaintext keys of shared KEKs in responses are ignored.

    Args:
        send: sends a request.
        contents: receives the keys.
        report: receives what is left out.
    """

    def __init__(
        self, send: Callable[[Call[Any]], Awaitable[Any]], contents: RegistryContents, report: TransferReport
    ) -> None:
        self._send = send
        self._contents = contents
        self._report = report

    async def read(self) -> None:
        """Read all keys that the user may read, soft-deleted ones included."""
        for name in await self._list("KEKs", "keks"):
            body = await self._request(f"KEK {name}", "keks", name)
            if isinstance(body, dict):
                await self._read_kek(name, body)

    async def _read_kek(self, name: str, body: Mapping[str, Any]) -> None:
        where = f"KEK {name}"
        try:
            kek = parse_kek({**body, "updated": body.get("ts")})
        except (InvalidField, KeyError) as error:
            self._report.odd(OddityKind.UNREADABLE, where, str(error))
            return
        self._contents.keks[kek.name] = kek
        for subject in await self._list(f"{where}: DEKs", "keks", name, "deks"):
            for algorithm in DekAlgorithm:
                path = ("keks", name, "deks", subject, "versions")
                listed = f"{where}: versions of {subject}"
                for version in await self._list(listed, *path, kind=int, algorithm=algorithm.value):
                    await self._read_dek(name, subject, algorithm, version)

    async def _read_dek(self, name: str, subject: str, algorithm: DekAlgorithm, version: int) -> None:
        where = f"DEK {name}/{subject}/{algorithm}/{version}"
        path = ("keks", name, "deks", subject, "versions", str(version))
        body = await self._request(where, *path, algorithm=algorithm.value)
        if not isinstance(body, dict):
            return
        members = {name: body.get(name) for name in ("subject", "algorithm", "encryptedKeyMaterial")}
        flags = {"version": version, "created": body.get("ts"), "deleted": body.get("deleted") is True}
        try:
            dek = parse_dek({"kek": name, **members, **flags})
        except (InvalidField, KeyError) as error:
            self._report.odd(OddityKind.UNREADABLE, where, str(error))
            return
        self._contents.deks[dek.key] = dek

    async def _list(self, where: str, *segments: str, kind: type = str, **query: str) -> Iterable[Any]:
        items = await self._request(where, *segments, **query)
        if items is None:
            return ()
        if not isinstance(items, list) or len(items) > MAX_KEYS or any(type(item) is not kind for item in items):
            self._report.odd(OddityKind.UNREADABLE, where, f"something other than a list of at most {MAX_KEYS:,} items")
            return ()
        return dict.fromkeys(items)

    async def _request(self, where: str, *segments: str, **query: str) -> Any:
        """Return the response; None if there is none, or the user may not read it."""
        path = ("dek-registry", "v1", *segments)
        call: Call[Any] = Call("GET", path, lambda body: body, (("deleted", "true"), *query.items()))
        try:
            return await self._send(call)
        except (Unauthorized, Forbidden):
            self._report.odd(OddityKind.KEYS_DENIED, where)
        except RegistryError as error:
            if str(error.error_code)[:3] not in _ABSENT:
                self._report.odd(OddityKind.UNREADABLE, where, f"the registry responded with {error.error_code}")
        return None
