"""The records of the serializer benchmarks: Avro schemas and values, also used as JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final
from uuid import UUID

__all__ = ["SHAPES", "Shape"]

Schema = Any
WORDS: Final = ("Köln", "Bonn", "shop", "leave at the door", "a", "", "warehouse 7, gate 12", "日本", "mail")
OPTIONAL: Final = {"default": None}


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema, and the function that makes its values."""

    name: str
    schema: dict[str, Any]
    value: Callable[[Random], dict[str, Any]]

    def values(self, number: int) -> list[dict[str, Any]]:
        """Return values that are the same in every run."""
        random = Random(self.name)
        return [self.value(random) for _ in range(number)]

    def evolved(self) -> dict[str, Any]:
        """Return a reader schema: the second field is removed, and two with defaults are added."""
        first, _, *others = self.schema["fields"]
        added = [
            field("added_note", ["null", "string"], **OPTIONAL),
            field("added_state", "string", default="open"),
        ]
        return self.schema | {"fields": [first, *others, *added]}


def field(name: str, schema: Schema, **more: Any) -> dict[str, Any]:
    """Return a field."""
    return {"name": name, "type": schema, **more}


def record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    """Return a record."""
    return {"type": "record", "name": name, "fields": list(fields)}


def logical(type_: str, name: str, **more: Any) -> dict[str, Any]:
    """Return a logical type."""
    return {"type": type_, "logicalType": name, **more}


def word(random: Random) -> str:
    """Return a short text."""
    return random.choice(WORDS)


def moment(random: Random) -> datetime:
    """Return a recent time, in whole milliseconds."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(milliseconds=random.randrange(10**11))


SMALL: Final = record(
    "Measurement",
    field("sensor", "string"),
    field("place", "string"),
    field("number", "long"),
    field("value", "double"),
    field("valid", "boolean"),
)


def small(random: Random) -> dict[str, Any]:
    """Return a record of five flat fields."""
    return {
        "sensor": f"sensor-{random.randrange(10**6)}",
        "place": word(random),
        "number": random.randrange(10**9),
        "value": random.random(),
        "valid": random.choice([True, False]),
    }


ADDRESS: Final = record(
    "Address",
    field("street", "string"),
    field("city", "string"),
    field("zip", ["null", "string"], **OPTIONAL),
)
LINE: Final = record(
    "Line",
    field("sku", "string"),
    field("quantity", "int"),
    field("price", logical("bytes", "decimal", precision=12, scale=2)),
)
STATUS: Final = {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT", "BACK"]}
CARD: Final = record("Card", field("network", "string"), field("last_digits", "string"))
TRANSFER: Final = record("Transfer", field("iban", "string"), field("booked_on", logical("int", "date")))
REALISTIC: Final = record(
    "Order",
    field("order_id", logical("string", "uuid")),
    field("channel", "string"),
    field("customer", "long"),
    field("placed_at", logical("long", "timestamp-millis")),
    field("status", STATUS),
    field("priority", {"type": "enum", "name": "Priority", "symbols": ["LOW", "HIGH"]}),
    field("gift", "boolean"),
    field("items", "int"),
    field("weight", "double"),
    field("total", logical("bytes", "decimal", precision=12, scale=2)),
    field("address", ADDRESS),
    field("lines", {"type": "array", "items": LINE}),
    field("tags", {"type": "map", "values": "string"}),
    field("payment", ["null", CARD, TRANSFER], **OPTIONAL),
    field("note", ["null", "string"], **OPTIONAL),
)


def amount(random: Random) -> Decimal:
    """Return a price."""
    return Decimal(random.randrange(1, 10**7)).scaleb(-2)


def realistic(random: Random) -> dict[str, Any]:
    """Return an order of 15 fields."""
    card = {"network": "visa", "last_digits": f"{random.randrange(10**4):04}"}
    transfer = {"iban": f"DE{random.randrange(10**20)}", "booked_on": date(2024, 1, 1 + random.randrange(28))}
    return {
        "order_id": UUID(int=random.getrandbits(128)),
        "channel": random.choice(["web", "app", "shop"]),
        "customer": random.randrange(10**6),
        "placed_at": moment(random),
        "status": random.choice(STATUS["symbols"]),
        "priority": random.choice(["LOW", "HIGH"]),
        "gift": not random.randrange(10),
        "items": random.randrange(20),
        "weight": random.random() * 30,
        "total": amount(random),
        "address": {"street": f"Main {random.randrange(200)}", "city": word(random), "zip": "50667"},
        "lines": [
            {"sku": f"S{random.randrange(10**5)}", "quantity": random.randrange(1, 9), "price": amount(random)}
            for _ in range(3)
        ],
        "tags": {"source": "mail", "campaign": word(random)},
        "payment": random.choice([None, card, card, transfer]),
        "note": random.choice([None, None, "leave at the door"]),
    }


DEPTH: Final = 6


def _nesting(depth: int) -> dict[str, Any]:
    inner = [field("inner", ["null", _nesting(depth - 1)], **OPTIONAL)] if depth else []
    own = [field("label", "string"), field("number", "long")]
    return record(f"Level{depth}", *own, *inner)


def nested(random: Random, depth: int = DEPTH) -> dict[str, Any]:
    """Return nested records, each behind a union with null."""
    own = {"label": word(random), "number": random.randrange(10**6)}
    return own | {"inner": nested(random, depth - 1)} if depth else own


WIDE_UNION: Final = ["null", "boolean", "long", "double", "string", {"type": "array", "items": "long"}]
PARTIES: Final = [
    record("Person", field("family_name", "string"), field("born", "int")),
    record("Company", field("company_name", "string"), field("employees", "int")),
    record("Robot", field("serial", "long")),
]
UNIONS: Final = record(
    "Choices",
    *(field(f"any_{number}", WIDE_UNION) for number in range(4)),
    field("from_party", ["null", *PARTIES]),
    field("to_party", ["null", "Person", "Company", "Robot"]),
    *(field(f"text_{number}", ["null", "string"], **OPTIONAL) for number in range(4)),
)


def unions(random: Random) -> dict[str, Any]:
    """Return values of unions with many branches."""

    def either() -> Any:
        return random.choice([None, True, random.randrange(10**6), random.random(), word(random), [1, 2, 3]])

    def party() -> Any:
        person = {"family_name": word(random), "born": 1970 + random.randrange(50)}
        company = {"company_name": word(random), "employees": random.randrange(500)}
        return random.choice([None, person, company, {"serial": random.randrange(10**9)}])

    values = {f"any_{number}": either() for number in range(4)}
    values |= {"from_party": party(), "to_party": party()}
    return values | {f"text_{number}": random.choice([None, word(random)]) for number in range(4)}


COLUMNS: Final = ("string", "long", "double", "boolean", ["null", "string"], "int")
WIDE: Final = record("Row", *(field(f"column_{number}", COLUMNS[number % 6]) for number in range(150)))


def wide(random: Random) -> dict[str, Any]:
    """Return a row of 150 columns."""
    made: list[Callable[[], Any]] = [
        lambda: word(random),
        lambda: random.randrange(10**9),
        random.random,
        lambda: random.choice([True, False]),
        lambda: random.choice([None, word(random)]),
        lambda: random.randrange(1000),
    ]
    return {f"column_{number}": made[number % 6]() for number in range(150)}


POINT: Final = record("Point", field("at", "long"), field("value", "double"))
ARRAYS: Final = record(
    "Series",
    field("name", "string"),
    field("unit", "string"),
    field("numbers", {"type": "array", "items": "long"}),
    field("shares", {"type": "array", "items": "double"}),
    field("words", {"type": "array", "items": "string"}),
    field("points", {"type": "array", "items": POINT}),
)


def arrays(random: Random) -> dict[str, Any]:
    """Return arrays of 50 items each, and one of 20 records."""
    return {
        "name": word(random),
        "unit": "kWh",
        "numbers": [random.randrange(10**5) for _ in range(50)],
        "shares": [random.random() for _ in range(50)],
        "words": [word(random) for _ in range(50)],
        "points": [{"at": random.randrange(10**12), "value": random.random()} for _ in range(20)],
    }


NUMBERS: Final = record(
    "Numbers",
    field("name", "string"),
    field("longs", {"type": "array", "items": "long"}),
    field("ints", {"type": "array", "items": "int"}),
    field("doubles", {"type": "array", "items": "double"}),
    field("floats", {"type": "array", "items": "float"}),
)


def numbers(random: Random) -> dict[str, Any]:
    """Return four arrays of 50 numbers each."""
    return {
        "name": word(random),
        "longs": [random.randrange(-(10**9), 10**9) for _ in range(50)],
        "ints": [random.randrange(1000) for _ in range(50)],
        "doubles": [random.random() for _ in range(50)],
        "floats": [float(random.randrange(1000)) for _ in range(50)],
    }


TEXTS: Final = record(
    "Texts",
    field("name", "string"),
    field("words", {"type": "array", "items": "string"}),
    field("labels", {"type": "map", "values": "string"}),
    field("counts", {"type": "map", "values": "long"}),
)


def texts(random: Random) -> dict[str, Any]:
    """Return an array of 50 strings, and two maps of 20 entries each."""
    return {
        "name": word(random),
        "words": [word(random) for _ in range(50)],
        "labels": {f"label-{number}": word(random) for number in range(20)},
        "counts": {f"count-{number}": random.randrange(10**5) for number in range(20)},
    }


ITEM: Final = record(
    "Item", field("sku", "string"), field("quantity", "int"), field("price", "double"), field("gift", "boolean")
)
ITEMS: Final = record("Basket", field("name", "string"), field("items", {"type": "array", "items": ITEM}))


def items(random: Random) -> dict[str, Any]:
    """Return an array of 50 records."""
    return {
        "name": word(random),
        "items": [
            {
                "sku": f"S{random.randrange(10**5)}",
                "quantity": random.randrange(1, 9),
                "price": random.random(),
                "gift": random.choice([True, False]),
            }
            for _ in range(50)
        ],
    }


MIXED: Final = ("string", "long", "double", "boolean", "int", "float")
NULLABLE: Final = record(
    "NullableRow",
    *(
        field(f"column_{number}", MIXED[number // 2 % 6] if number % 2 else ["null", MIXED[number // 2 % 6]])
        for number in range(150)
    ),
)


def nullable(random: Random) -> dict[str, Any]:
    """Return a row of 150 columns, half of which are nullable."""
    made: list[Callable[[], Any]] = [
        lambda: word(random),
        lambda: random.randrange(10**9),
        random.random,
        lambda: random.choice([True, False]),
        lambda: random.randrange(1000),
        lambda: float(random.randrange(1000)),
    ]
    return {
        f"column_{number}": None if number % 2 == 0 and not random.randrange(3) else made[number // 2 % 6]()
        for number in range(150)
    }


def _shapes() -> Iterator[Shape]:
    yield Shape("small", SMALL, small)
    yield Shape("realistic", REALISTIC, realistic)
    yield Shape("nested", _nesting(DEPTH), nested)
    yield Shape("unions", UNIONS, unions)
    yield Shape("wide", WIDE, wide)
    yield Shape("nullable", NULLABLE, nullable)
    yield Shape("arrays", ARRAYS, arrays)
    yield Shape("numbers", NUMBERS, numbers)
    yield Shape("texts", TEXTS, texts)
    yield Shape("items", ITEMS, items)


SHAPES: Final = {shape.name: shape for shape in _shapes()}
