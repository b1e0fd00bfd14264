"""Limits on wrong passwords by address and name do not lock out other users."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contractlog.compatibility.errors import Overloaded, TooManyFailures, Unauthorized, UsageError
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file import UsersFile
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.http import password_check_queue
from contractlog.registry.http.authenticator import Authenticator
from contractlog.registry.http.password_check_queue import PasswordCheckQueue
from contractlog.registry.http.password_failure_limits import (
    ADDRESS_FAILURES,
    NAME_FAILURES,
    FailureLimits,
    list_networks,
    parse_network,
)
from contractlog.registry.http.trusted_proxies import parse_proxies

A, B = "192.0.2.1", "192.0.2.2"


class Clock:
    """A clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(clock: Clock) -> FailureLimits:
    return FailureLimits(clock)


def fail(limits: FailureLimits, address: str, name: str, times: int = 1) -> None:
    for _ in range(times):
        limits.begin(address, name)
        limits.end(address, name, succeeded=False)


def test_a_name_is_limited_for_one_address_and_never_for_another(limits: FailureLimits, clock: Clock) -> None:
    fail(limits, A, "ci", NAME_FAILURES)
    with pytest.raises(TooManyFailures) as refused:
        limits.begin(A, "ci")
    assert (refused.value.http_status, refused.value.seconds) == (429, 6)
    fail(limits, A, "other")
    fail(limits, B, "ci")
    clock.now += refused.value.seconds
    fail(limits, A, "ci")
    with pytest.raises(TooManyFailures):
        limits.begin(A, "ci")


def test_an_address_is_limited_over_all_names(limits: FailureLimits, clock: Clock) -> None:
    for number in range(ADDRESS_FAILURES):
        fail(limits, A, f"name-{number}")
    with pytest.raises(TooManyFailures):
        limits.begin(A, "ci")
    fail(limits, B, "ci")
    clock.now += 60
    fail(limits, A, "ci")


def test_a_check_that_runs_counts_until_it_ends(limits: FailureLimits) -> None:
    for _ in range(NAME_FAILURES):
        limits.begin(A, "ci")
    with pytest.raises(TooManyFailures):
        limits.begin(A, "ci")
    limits.end(A, "ci", succeeded=None)
    limits.begin(A, "ci")
    for _ in range(NAME_FAILURES):
        limits.end(A, "ci", succeeded=True)
    limits.begin(A, "ci")


def test_a_name_that_succeeded_from_an_address_is_not_held_to_the_limit_of_the_address(limits: FailureLimits) -> None:
    limits.begin(A, "ci")
    limits.end(A, "ci", succeeded=True)
    for number in range(ADDRESS_FAILURES):
        fail(limits, A, f"name-{number}")
    with pytest.raises(TooManyFailures):
        limits.begin(A, "new")
    fail(limits, A, "ci", NAME_FAILURES)
    with pytest.raises(TooManyFailures):
        limits.begin(A, "ci")
    assert limits.has_succeeded(A)
    assert not limits.has_succeeded(B)
    limits.note_address(B)
    assert limits.has_succeeded(B)


def test_the_memory_of_attempts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contractlog.registry.http.password_failure_limits._MAX_KEYS", 10)
    limits = FailureLimits()
    for number in range(50):
        fail(limits, f"192.0.2.{number}", "n" * 50_000)
        limits.note_success(f"192.0.2.{number}", "n" * 50_000)
    assert 9 <= len(limits._buckets) <= 10
    assert 9 <= len(limits._succeeded) <= 10
    assert max(len(name) for _, name in limits._buckets) == 16
    assert limits.has_succeeded("192.0.2.49")
    assert not limits.has_succeeded("192.0.2.0")


def test_an_address_is_what_a_client_cannot_choose() -> None:
    assert len({parse_network(f"2001:db8::{number:x}:1") for number in range(100)}) == 1
    assert parse_network("2001:db8:0:1::1") != parse_network("2001:db8:0:2::1")
    assert parse_network("::ffff:192.0.2.1") == parse_network("192.0.2.1")
    assert len({parse_network(f"unknown-{number}\n") for number in range(100)}) == 1


@pytest.mark.parametrize("text", ["proxy", "10.0.0.1/8", "*", "0.0.0.0/0", "::/0", "10.0.0.0/8,x"])
def test_a_trusted_proxy_is_an_address_or_a_network_and_not_everybody(text: str) -> None:
    with pytest.raises(UsageError, match="--trusted-proxies cannot contain"):
        parse_proxies(text)


class Gate:
    """Work that waits until it is let through; notes the order in which it was run."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = threading.Semaphore(0)
        self.order: list[str] = []

    def work(self, label: str) -> Callable[[], str]:
        def run() -> str:
            self.order.append(label)
            self.begun.release()
            self.open.wait(60)
            return label

        return run

    def occupy(self, checks: PasswordCheckQueue[str]) -> None:
        """Keep every thread busy, so that whatever comes next waits."""
        for number in range(password_check_queue._THREADS):
            checks.submit(["busy"], self.work(f"busy-{number}"), trusted=False)
            assert self.begun.acquire(timeout=60)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


def test_addresses_take_turns_and_those_that_succeeded_have_every_other_one(gate: Gate) -> None:
    checks: PasswordCheckQueue[str] = PasswordCheckQueue()
    gate.occupy(checks)
    waiting = [checks.submit(["flood"], gate.work(f"flood-{n}"), trusted=False) for n in range(50)]
    waiting += [checks.submit([f"address-{n}"], gate.work(f"address-{n}"), trusted=False) for n in range(3)]
    waiting += [checks.submit(["mine"], gate.work(f"mine-{n}"), trusted=True) for n in range(2)]
    gate.open.set()
    for one in waiting:
        one.result(timeout=60)
    place = gate.order.index
    assert max(place(f"address-{n}") for n in range(3)) < place("flood-4")
    assert max(place(f"mine-{n}") for n in range(2)) < place("flood-5")


def test_a_flood_leaves_places_for_other_addresses(gate: Gate) -> None:
    checks: PasswordCheckQueue[str] = PasswordCheckQueue()
    gate.occupy(checks)
    flood = [
        checks.submit(["flood"], gate.work(f"flood-{number}"), trusted=False)
        for number in range(password_check_queue._MAX_WAITING)
    ]
    with pytest.raises(Overloaded, match="more passwords to check"):
        checks.submit(["flood"], gate.work("one more"), trusted=False)
    others = [checks.submit([f"address-{n}"], gate.work(f"address-{n}"), trusted=False) for n in range(20)]
    trusted = [checks.submit(["mine"], gate.work(f"mine-{n}"), trusted=True) for n in range(20)]
    gate.open.set()
    assert len([one.result(timeout=60) for one in (*others, *trusted)]) == 40
    outcomes = [one.exception(timeout=60) for one in flood]
    assert [type(one) for one in outcomes if one is not None] == [Overloaded] * 20
    assert outcomes[:80] == [None] * 80  # the newest make room


@pytest.mark.parametrize(
    "template", ["192.0.2.{}", "192.0.{}.1", "2001:db8:1:{:x}::1", "2001:db8:{:x}::1", "not an address {}"]
)
def test_a_flood_from_every_address_of_a_network_leaves_places_for_others(gate: Gate, template: str) -> None:
    checks: PasswordCheckQueue[str] = PasswordCheckQueue()
    gate.occupy(checks)
    flood = [
        checks.submit(networks_of(template.format(number)), gate.work(f"flood-{number}"), trusted=False)
        for number in range(password_check_queue._MAX_WAITING)
    ]
    with pytest.raises(Overloaded, match="more passwords to check"):
        checks.submit(networks_of(template.format(101)), gate.work("one more"), trusted=False)
    right = [
        checks.submit(networks_of(address), gate.work("right"), trusted=False)
        for address in ("198.51.100.1", "2001:db9::1")
    ]
    gate.open.set()
    assert [one.result(timeout=60) for one in right] == ["right", "right"]
    assert gate.order.index("right") <= 4  # networks take turns
    assert sum(one.exception(timeout=60) is not None for one in flood) == 2


def test_within_a_network_the_addresses_take_turns(gate: Gate) -> None:
    checks: PasswordCheckQueue[str] = PasswordCheckQueue()
    gate.occupy(checks)
    for number in range(password_check_queue._MAX_WAITING):
        checks.submit(networks_of("192.0.2.1"), gate.work(f"flood-{number}"), trusted=False)
    right = checks.submit(networks_of("192.0.2.2"), gate.work("right"), trusted=False)
    gate.open.set()
    assert right.result(timeout=60) == "right"
    assert gate.order.index("right") <= 4


def networks_of(address: str) -> tuple[str, ...]:
    return list_networks(parse_network(address))


def basic(name: str, password: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{name}:{password}".encode())


def test_right_passwords_are_checked_while_others_send_wrong_ones(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """130 connections with wrong passwords from one address; right ones from another, and by another name."""
    path = tmp_path / "users.toml"
    path.write_text(
        "\n".join(format_entry(n, HashedPassword.of("right", n=2, r=1, p=1), ["*"], []) for n in ("ci", "dev"))
    )
    checks = Authenticator(UsersFile(str(path)))
    matches = HashedPassword.matches

    def held(self: HashedPassword, password: str) -> bool:
        gate.work(password)()
        return matches(self, password)

    monkeypatch.setattr(HashedPassword, "matches", held)

    async def attack() -> tuple[list[object], list[object]]:
        wrong = [asyncio.create_task(checks.by_password(basic("ci", f"wrong-{n}"), A)) for n in range(130)]
        await asyncio.sleep(0)
        right = [asyncio.create_task(checks.by_password(basic(n, "right"), a)) for n, a in (("ci", B), ("dev", A))]
        await asyncio.sleep(0)
        gate.open.set()
        found = await asyncio.wait_for(asyncio.gather(*wrong, *right, return_exceptions=True), 60)
        return list(found[:130]), list(found[130:])

    wrong, right = asyncio.run(attack())
    assert [type(one) for one in wrong] == [Unauthorized] * NAME_FAILURES + [TooManyFailures] * (130 - NAME_FAILURES)
    assert [getattr(one, "name", one) for one in right] == ["ci", "dev"]
    assert gate.order.index("right") <= 4  # the other address did not wait for the flood
    assert checks.check_cached_credentials(basic("ci", "right")) is not None


def test_a_user_who_is_removed_while_the_password_is_checked_is_refused(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    path = tmp_path / "users.toml"
    path.write_text(format_entry("ci", HashedPassword.of("right", n=2, r=1, p=1), ["*"], []))
    checks = Authenticator(UsersFile(str(path), clock))
    monkeypatch.setattr(HashedPassword, "matches", lambda _self, _password: bool(gate.work("check")()))

    async def call() -> None:
        checking = asyncio.create_task(checks.by_password(basic("ci", "right"), A))
        await asyncio.to_thread(gate.begun.acquire, timeout=60)
        path.write_text("")
        clock.now += 2
        gate.open.set()
        with pytest.raises(Unauthorized):
            await checking

    asyncio.run(call())
