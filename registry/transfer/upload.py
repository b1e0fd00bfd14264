"""Upload of an export to a running contractlog registry, which imports it like `contractlog import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from contractlog.clients.calls.body_shapes import require_shape
from contractlog.clients.settings import Security
from contractlog.clients.transport import BoundedBody, HttpTransportBase
from contractlog.compatibility.errors import BadRequest, RegistryError, Unauthorized, Unreachable, UsageError
from contractlog.registry.transfer.report import IMPORT_PATH, Oddity, OddityKind, TransferReport

__all__ = ["IMPORT_SECONDS", "upload_export"]

_CHUNK_SIZE: Final = 256 * 1024  #: characters that are sent together
IMPORT_SECONDS: Final = 3_600.0  #: seconds of a whole import: sending it, and waiting for the response
_CONFLICT_STATUS: Final = 409
#: Members of a report that are read.
_REPORT: Final = {
    "done": {"*": int},
    "conflicts": [str],
    "oddities": [{"kind": str, "where": str, "detail": str}],
}


def upload_export(
    url: str,
    lines: Iterable[str],
    report: TransferReport,
    *,
    security: Security,
    timeout: float,
    dry_run: bool,
    modes: bool,
    import_timeout: float = IMPORT_SECONDS,
) -> None:
    """Import an export into a running registry; add what it did, or would do, to the report.

    Args:
        url: of the registry.
        lines: of the export.
        report: receives counts, conflicts and oddities.
        security: credentials and TLS settings.
        timeout: seconds for connecting, and for sending each piece.
        dry_run: write nothing there.
        modes: whether to import modes.
        import_timeout: seconds for all of it, whatever the registry sends meanwhile.

    Raises:
        Unreachable, UsageError, RegistryError: the import failed; the registry is unchanged.
    """
    from contractlog.clients.blocking_deadline import TimeLimit  # noqa: PLC0415 - needs httpx2

    side = HttpTransportBase(url, timeout=timeout, security=security)
    address = side.addresses[0]
    user = side.find_user(address)
    token_header = side.token_header() if user is None else {}
    http_timeout = side.httpx2.Timeout(timeout, read=import_timeout)
    limit = TimeLimit()
    query = {"dryRun": str(dry_run).lower(), "modes": str(modes).lower()}
    with (
        side.httpx2.Client(headers=side.headers, verify=side.verify, timeout=http_timeout) as client,
        limit.within(import_timeout),
    ):
        limit.apply_to(client)
        try:
            with client.stream(
                "POST",
                address.url + IMPORT_PATH,
                params=query,
                content=_encode_chunks(lines),
                headers={"Content-Type": "application/x-ndjson", **token_header},
                auth=user,
            ) as response:
                body = BoundedBody(response)
                for chunk in () if body.fault else response.iter_bytes():
                    if not body.add(chunk):
                        break
        except side.httpx2.RequestError as error:
            late = isinstance(error, side.httpx2.ReadTimeout) or limit.exceeded
            reason = f"no response within {import_timeout:g} seconds" if late else side.failure_of(error).reason
            raise Unreachable(f"registry {address.url}: {reason}") from None
    response = body.response()
    if response.fault:
        raise Unreachable(f"registry {address.url}: its response {response.fault}")
    _merge_response(address.url, response.status, response.body, report)


def _encode_chunks(lines: Iterable[str]) -> Iterator[bytes]:
    waiting, size = [], 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size > _CHUNK_SIZE:
            yield ("\n".join(waiting) + "\n").encode()
            waiting, size = [], 0
    yield "".join(line + "\n" for line in waiting).encode()


def _merge_response(url: str, status: int, content: bytes, report: TransferReport) -> None:
    """Add the registry's report to that of the caller.

    Raises:
        RegistryError, UsageError: the response is an error.
        Unreachable: it is neither an error nor a report; the caller's report is unchanged.
    """
    try:
        body = orjson.loads(content)  # rejects deep nesting with a ValueError
        if "conflicts" not in body:
            raise _make_error(url, status, int(body["error_code"]), str(body["message"]))
        received = _parse_report(body)
    except (ValueError, TypeError, KeyError):
        raise Unreachable(f"registry {url}: responded with {status} and a body that is not an import report") from None
    report.done.update(received.done)
    report.conflicts += [conflict for conflict in received.conflicts if conflict not in report.conflicts]
    existing = {(oddity.kind, oddity.where) for oddity in report.oddities}
    report.oddities += [oddity for oddity in received.oddities if (oddity.kind, oddity.where) not in existing]
    if status != _CONFLICT_STATUS and status >= BadRequest.code:
        raise Unreachable(f"registry {url}: responded with {status}")


def _parse_report(body: Any) -> TransferReport:
    """Return the report in a response, without what was read.

    Raises:
        ValueError, TypeError, KeyError: it is not the body of a report.
    """
    require_shape(body, _REPORT)
    done, conflicts = dict(body["done"]), list(body["conflicts"])
    oddities = [Oddity(OddityKind[item["kind"]], item["where"], item["detail"]) for item in body["oddities"]]
    texts = [text for oddity in oddities for text in (oddity.where, oddity.detail)]
    if None in texts or None in done.values():  # which a shape admits
        raise TypeError("a member is null")
    return TransferReport(done=Counter(done), conflicts=conflicts, oddities=oddities)


def _make_error(url: str, status: int, code: int, message: str) -> RegistryError | UsageError:
    if code in {404, 405}:
        return UsageError(
            f"{url} is not a contractlog registry that supports imports. Import into a database "
            "(--database-url), or export to a topic for it: contractlog export --topic _schemas"
        )
    refusal = RegistryError.of(code, f"{url} responded with {status}: {message}")
    if isinstance(refusal, Unauthorized):
        refusal.facts["url"] = url  # the command line names the settings to change
    return refusal
