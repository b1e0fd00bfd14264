"""Topics and true edges of a synthetic estate, and the base topics of three domains.

A domain has streams, which are made from nothing, and tables that streams refer to by one or two key fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["DOMAINS", "START_MS", "Domain", "Table", "Topic", "TrueEdge", "make_distractors"]

START_MS: Final = 1_700_000_000_000
DAY_MS: Final = 86_400_000
STREAM_MS: Final = 5 * DAY_MS  #: length of a stream
Random = np.random.Generator
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TrueEdge:
    """A field that was made from another."""

    source: tuple[str, str]  #: topic and field
    target: tuple[str, str]
    kind: str
    directed: bool = True  #: false if no evidence in the log tells which of the two was first


@dataclass(frozen=True)
class Topic:
    """The records of a topic, by time, and how they were made."""

    name: str
    frame: pd.DataFrame  #: one column per field; missing values are nulls
    times: Integers  #: timestamp of each record, in milliseconds
    edges: tuple[TrueEdge, ...] = ()
    kind: str = "base"
    offsets: Integers | None = None  #: of records that remain, if others were not read


@dataclass(frozen=True)
class Table:
    """A topic with one record per key."""

    topic: Topic
    keys: tuple[str, ...]
    foreign: tuple[str, ...]  #: fields of the streams that refer to the keys


@dataclass(frozen=True)
class Domain:
    """Base topics of one character."""

    streams: list[Topic]
    tables: list[Table]
    ids: dict[str, str] = field(default_factory=dict)  #: by stream: the field whose values identify a record


def _times(random: Random, count: int) -> Integers:
    """Return ascending times with the rhythm of a day."""
    weights = 1 + 0.8 * np.sin(np.arange(120) * 2 * np.pi / 24)
    hours = random.choice(120, size=count, p=weights / weights.sum())
    return np.sort(START_MS + hours * 3_600_000 + random.integers(0, 3_600_000, count))


def _hex(random: Random, count: int, digits: int = 16) -> list[str]:
    return [random.bytes(digits // 2).hex() for _ in range(count)]


def _make_names(random: Random, count: int, words: int = 2) -> list[str]:
    syllables = ["ba", "ko", "ri", "ten", "sul", "mar", "ved", "lo", "nik", "pra", "zu", "hel", "dor", "fen", "gi"]
    return [" ".join("".join(random.choice(syllables, 3)).capitalize() for _ in range(words)) for _ in range(count)]


def _table_times(random: Random, count: int) -> Integers:
    return np.sort(START_MS - random.integers(DAY_MS, 3 * DAY_MS, count))


def _flights(random: Random) -> Domain:
    carriers = [f"{a}{b}" for a, b in zip("ABDEFHKLMNOSUVWY", "AB6EVHXQAOYXSNWV", strict=True)]
    airports = sorted({"".join(random.choice(list("ABCDEFGHIKLMNOPRSTUVW"), 3)) for _ in range(110)})
    tails = [f"N{number}" for number in random.choice(90_000, 1200, replace=False) + 10_000]
    count = int(random.integers(3500, 6500))
    times = _times(random, count)
    delay = np.round(random.gamma(1.5, 14, count) - 8).astype(int)
    departures = pd.DataFrame(
        {
            "flight_id": _hex(random, count),
            "carrier": random.choice(carriers, count),
            "number": random.integers(1, 4000, count),
            "origin": random.choice(airports[:6], count),
            "dest": random.choice(airports, count),
            "tail": random.choice(tails, count),
            "scheduled_ms": (times // 60_000 + random.integers(-30, 30, count)) * 60_000,
            "delay_minutes": delay,
            "distance_miles": random.integers(90, 2900, count),
            "callsign": [
                f"{c}-{n}" for c, n in zip(random.choice(carriers, count), random.integers(1, 9999, count), strict=True)
            ],
        }
    )
    departures["hour"] = times // 3_600_000
    landed = random.choice(count, int(count * 0.97), replace=False)
    arrivals = pd.DataFrame(
        {
            "flight_id": departures["flight_id"].to_numpy()[landed],
            "runway": random.choice(["04L", "22R", "13", "31"], len(landed)),
            "gate": [
                f"{g}{n}"
                for g, n in zip(
                    random.choice(list("ABCDE"), len(landed)), random.integers(1, 60, len(landed)), strict=True
                )
            ],
            "air_minutes": random.integers(30, 420, len(landed)),
            "fuel_kg": np.round(random.gamma(4, 1500, len(landed)), 1),
        }
    )
    landing = times[landed] + random.integers(1_800_000, 20_000_000, len(landed))
    order = np.argsort(landing, kind="stable")
    planes = pd.DataFrame(
        {
            "tail": tails,
            "maker": random.choice(["Boeing", "Airbus", "Embraer", "Bombardier"], len(tails)),
            "serial": _hex(random, len(tails), 10),
            "seats": random.integers(50, 400, len(tails)),
            "built": random.integers(1985, 2014, len(tails)),
        }
    )
    places = pd.DataFrame(
        {
            "code": airports,
            "airport_name": _make_names(random, len(airports)),
            "lat": np.round(random.uniform(20, 60, len(airports)), 5),
            "lon": np.round(random.uniform(-150, -60, len(airports)), 5),
        }
    )
    hours = np.arange(START_MS // 3_600_000, (START_MS + STREAM_MS) // 3_600_000)
    weather = pd.DataFrame([(hour, origin) for hour in hours for origin in airports[:6]], columns=["hour", "origin"])
    weather["temperature"] = np.round(random.normal(15, 9, len(weather)), 2)
    weather["wind_speed"] = np.round(random.gamma(2, 5, len(weather)), 3)
    return Domain(
        [
            Topic("departures", departures, times),
            Topic("arrivals", arrivals.iloc[order].reset_index(drop=True), landing[order]),
        ],
        [
            Table(Topic("planes", planes, _table_times(random, len(planes))), ("tail",), ("tail",)),
            Table(Topic("airports", places, _table_times(random, len(places))), ("code",), ("dest",)),
            Table(
                Topic("weather", weather, weather["hour"].to_numpy() * 3_600_000 - 60_000),
                ("hour", "origin"),
                ("hour", "origin"),
            ),
        ],
        {"departures": "flight_id", "arrivals": "flight_id"},
    )


def _shop(random: Random) -> Domain:
    """Return a shop: few values per field, and ids that are numbers in sequence."""
    customers, products = 350, 60
    count = int(random.integers(3500, 6500))
    times = _times(random, count)
    sku = random.integers(0, products, count)
    prices = np.round(random.gamma(2, 20, products), 2)
    quantity = random.integers(1, 6, count)
    orders = pd.DataFrame(
        {
            "order_id": 100_000 + np.arange(count) * 3,
            "customer": random.integers(1, customers + 1, count),
            "sku": [f"S{number:03d}" for number in sku],
            "quantity": quantity,
            "total": np.round(prices[sku] * quantity, 2),
            "channel": random.choice(["web", "app", "store"], count, p=[0.5, 0.4, 0.1]),
            "country": random.choice(["DE", "FR", "PL", "US"], count),
            "coupon": np.where(random.random(count) < 0.2, random.choice(["SPRING", "VIP", "FIRST"], count), None),
            "slot": random.integers(0, 24, count),
        }
    )
    paid = np.flatnonzero(random.random(count) < 0.9)
    payments = pd.DataFrame(
        {
            "order_id": orders["order_id"].to_numpy()[paid],
            "method": random.choice(["card", "paypal", "invoice"], len(paid)),
            "authorisation": random.integers(0, 900_000, len(paid)),
            "status": random.choice(["captured", "refused"], len(paid), p=[0.95, 0.05]),
        }
    )
    payment_times = times[paid] + random.integers(2_000, 900_000, len(paid))
    order = np.argsort(payment_times, kind="stable")
    people = pd.DataFrame(
        {
            "id": np.arange(1, customers + 1),
            "full_name": _make_names(random, customers),
            "segment": random.choice(["gold", "silver", "basic"], customers),
            "city": random.choice(_make_names(random, 40, 1), customers),
        }
    )
    goods = pd.DataFrame(
        {
            "sku": [f"S{number:03d}" for number in range(products)],
            "title": _make_names(random, products, 3),
            "category": random.choice(["shoes", "books", "garden", "toys"], products),
            "unit_price": prices,
        }
    )
    rates = pd.DataFrame(
        [(country, slot) for country in ("DE", "FR", "PL", "US") for slot in range(24)], columns=["country", "slot"]
    )
    rates["delivery_fee"] = np.round(random.uniform(2, 15, len(rates)), 2)
    rates["depot"] = _make_names(random, len(rates), 1)
    return Domain(
        [
            Topic("orders", orders, times),
            Topic("payments", payments.iloc[order].reset_index(drop=True), payment_times[order]),
        ],
        [
            Table(Topic("customers", people, _table_times(random, customers)), ("id",), ("customer",)),
            Table(Topic("products", goods, _table_times(random, products)), ("sku",), ("sku",)),
            Table(Topic("rates", rates, _table_times(random, len(rates))), ("country", "slot"), ("country", "slot")),
        ],
        {"orders": "order_id", "payments": "order_id"},
    )


def _synthetic(random: Random) -> Domain:
    """Return streams with fields of random types."""
    makers: list[Callable[[int], Any]] = [
        lambda count: _hex(random, count),
        lambda count: np.round(random.normal(1000, 400, count), 3),
        lambda count: random.integers(0, 10**9, count),
        lambda count: random.integers(0, 50, count),
        lambda count: random.choice(["red", "green", "blue", "black"], count),
        lambda count: random.choice(_make_names(random, 300), count),
        lambda count: [f"{a}:{b}" for a, b in zip(_hex(random, count, 4), random.integers(0, 999, count), strict=True)],
        lambda count: random.random(count) < 0.3,
        lambda count: np.where(random.random(count) < 0.4, None, np.array(_hex(random, count, 8), object)),
    ]
    references = [f"R{number}" for number in range(300)]
    streams, ids = [], {}
    event_ids = _hex(random, 9000, 24)
    for number in range(2):
        count = int(random.integers(3500, 6500))
        times = _times(random, count)
        fields: dict[str, Any] = {"event_id": random.permutation(event_ids)[:count]}
        for index in range(int(random.integers(5, 10))):
            fields[f"f{number}_{index}"] = makers[int(random.integers(0, len(makers)))](count)
        fields["reference"] = random.choice(references, count)
        fields["bucket"] = random.integers(0, 40, count)
        fields["zone"] = random.choice(["north", "south", "east", "west", "mid"], count)
        name = f"events{number}"
        streams.append(Topic(name, pd.DataFrame(fields), times))
        ids[name] = "event_id"
    wide = pd.DataFrame(
        {
            "reference": references,
            "label": _make_names(random, 300, 3),
            "weight": np.round(random.gamma(3, 100, 300), 4),
            "grade": random.choice(list("ABCD"), 300),
        }
    )
    cells = pd.DataFrame(
        [(bucket, zone) for bucket in range(40) for zone in ("north", "south", "east", "west", "mid")],
        columns=["bucket", "zone"],
    )
    cells["tariff"] = np.round(random.uniform(1, 90, len(cells)), 3)
    return Domain(
        streams,
        [
            Table(Topic("references", wide, _table_times(random, 300)), ("reference",), ("reference",)),
            Table(Topic("tariffs", cells, _table_times(random, len(cells))), ("bucket", "zone"), ("bucket", "zone")),
        ],
        ids,
    )


def make_distractors(random: Random, domain: Domain) -> list[Topic]:
    """Return topics that share values and rates with the domain and are made from none of its topics."""
    stream = domain.streams[0]
    count = len(stream.times)
    times = _times(random, count)
    shared = {name: random.permutation(stream.frame[name].to_numpy()) for name in _shared_fields(domain)}
    return [
        Topic(
            "tickets",
            pd.DataFrame({"ticket": _hex(random, count), "priority": random.integers(1, 5, count), **shared}),
            times,
        ),
        Topic(  # a sequence at the same rate as the stream
            "audit.log",
            pd.DataFrame(
                {
                    "sequence": np.arange(count) * 3 + 100_000 + random.integers(0, 3, count),
                    "actor": random.integers(1, 200, count),
                    "action": random.choice(["read", "write", "login"], count),
                    "at_ms": stream.times,
                }
            ),
            stream.times + random.integers(1, 50, count),
        ),
        Topic(
            "heartbeats",
            pd.DataFrame(
                {
                    "host": np.tile([f"host{number}" for number in range(10)], 300),
                    "beat": np.repeat(np.arange(300), 10) + random.integers(0, 50),
                    "version": "1.4.2",
                    "healthy": True,
                }
            ),
            START_MS + np.repeat(np.arange(300), 10) * 60_000 + np.sort(random.integers(0, 900, (300, 10))).ravel(),
        ),
    ]


def _shared_fields(domain: Domain) -> list[str]:
    return [name for table in domain.tables for name in table.foreign if name in domain.streams[0].frame]


DOMAINS: Final[dict[str, Callable[[Random], Domain]]] = {"flights": _flights, "shop": _shop, "synthetic": _synthetic}
