"""Contracts of a running registry, which only contractlog has, read over its REST API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from contractlog.clients.calls import Call
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.transferred_contracts import parse_stored_contract

__all__ = ["RestContractReader"]


class RestContractReader:
    """Reads the live versions of the contracts that the user may read.

    Args:
        send: sends a request; returns None if the registry does not have or support what it requests.
        contents: receives the contracts.
        report: receives what cannot be read.
    """

    def __init__(
        self, send: Callable[[Call[Any]], Awaitable[Any]], contents: RegistryContents, report: TransferReport
    ) -> None:
        self._send = send
        self._contents = contents
        self._report = report

    async def read(self) -> None:
        """Read all contracts."""
        after: Any = ""
        while isinstance(after, str):
            body = await self._request(after=after)
            contracts = body.get("contracts") if isinstance(body, dict) else None
            for each in contracts if isinstance(contracts, list) else ():
                topic = each.get("topic") if isinstance(each, dict) else None
                if isinstance(topic, str):
                    await self._read_topic(topic)
            following = body.get("next") if isinstance(body, dict) else None
            after = following if isinstance(following, str) and following > after else None

    async def _read_topic(self, topic: str) -> None:
        versions = await self._request(topic, "versions")
        for version in versions if isinstance(versions, list) else ():
            body = await self._request(topic, "versions", str(version))
            if isinstance(body, dict):
                self._add(f"version {version} of the contract of {topic}", body)

    def _add(self, where: str, body: Mapping[str, Any]) -> None:
        schemas = body.get("schemas")
        states = [each for each in schemas if isinstance(each, dict)] if isinstance(schemas, list) else []
        described = {f"{each.get('part')}_version": each.get("version") for each in states}
        try:
            contract = parse_stored_contract({**body, **described, "created": body.get("created_at")})
        except (InvalidField, KeyError) as error:
            self._report.odd(OddityKind.UNREADABLE, where, str(error))
            return
        self._contents.contracts[contract.key] = contract

    async def _request(self, *segments: str, **query: str) -> Any:
        path = ("contractlog", "v1", "contracts", *segments)
        return await self._send(Call("GET", path, lambda body: body, tuple(query.items())))
