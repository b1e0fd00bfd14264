"""The records of the serializer benchmarks: Avro schemas and values, also used as JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final
from uuid import UUID

__all__ = ["RECORD_SHAPES", "RecordShape"]

Schema = Any
WORDS: Final = ("Köln", "Bonn", "shop", "leave at the door", "a", "", "warehouse 7, gate 12", "日本", "mail")
OPTIONAL: Final = {"default": None}


@dataclass(frozen=True, slots=True)
class RecordShape:
    """A schema, and the function that makes its values."""

    name: str
    schema: dict[str, Any]
    create_value: Callable[[Random], dict[str, Any]]

    def create_values(self, number: int) -> list[dict[str, Any]]:
        """Return values that are the same in every run."""
        random = Random(self.name)
        return [self.create_value(random) for _ in range(number)]

    def derive_reader_schema(self) -> dict[str, Any]:
        """Return a reader schema: the second field is removed, and two with defaults are added."""
        first, _, *others = self.schema["fields"]
        added = [
            create_field("added_note", ["null", "string"], **OPTIONAL),
            create_field("added_state", "string", default="open"),
        ]
        return self.schema | {"fields": [first, *others, *added]}


def create_field(name: str, schema: Schema, **more: Any) -> dict[str, Any]:
    """Return a field."""
    return {"name": name, "type": schema, **more}


def create_record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    """Return a record."""
    return {"type": "record", "name": name, "fields": list(fields)}


def create_logical_type(type_: str, name: str, **more: Any) -> dict[str, Any]:
    """Return a logical type."""
    return {"type": type_, "logicalType": name, **more}


def create_word(random: Random) -> str:
    """Return a short text."""
    return random.choice(WORDS)


def create_timestamp(random: Random) -> datetime:
    """Return a recent time, in whole milliseconds."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(milliseconds=random.randrange(10**11))


SMALL: Final = create_record(
    "Measurement",
    create_field("sensor", "string"),
    create_field("place", "string"),
    create_field("number", "long"),
    create_field("value", "double"),
    create_field("valid", "boolean"),
)


def create_small(random: Random) -> dict[str, Any]:
    """Return a record of five flat fields."""
    return {
        "sensor": f"sensor-{random.randrange(10**6)}",
        "place": create_word(random),
        "number": random.randrange(10**9),
        "value": random.random(),
        "valid": random.choice([True, False]),
    }


ADDRESS: Final = create_record(
    "Address",
    create_field("street", "string"),
    create_field("city", "string"),
    create_field("zip", ["null", "string"], **OPTIONAL),
)
LINE: Final = create_record(
    "Line",
    create_field("sku", "string"),
    create_field("quantity", "int"),
    create_field("price", create_logical_type("bytes", "decimal", precision=12, scale=2)),
)
STATUS: Final = {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT", "BACK"]}
CARD: Final = create_record("Card", create_field("network", "string"), create_field("last_digits", "string"))
TRANSFER: Final = create_record(
    "Transfer", create_field("iban", "string"), create_field("booked_on", create_logical_type("int", "date"))
)
REALISTIC: Final = create_record(
    "Order",
    create_field("order_id", create_logical_type("string", "uuid")),
    create_field("channel", "string"),
    create_field("customer", "long"),
    create_field("placed_at", create_logical_type("long", "timestamp-millis")),
    create_field("status", STATUS),
    create_field("priority", {"type": "enum", "name": "Priority", "symbols": ["LOW", "HIGH"]}),
    create_field("gift", "boolean"),
    create_field("items", "int"),
    create_field("weight", "double"),
    create_field("total", create_logical_type("bytes", "decimal", precision=12, scale=2)),
    create_field("address", ADDRESS),
    create_field("lines", {"type": "array", "items": LINE}),
    create_field("tags", {"type": "map", "values": "string"}),
    create_field("payment", ["null", CARD, TRANSFER], **OPTIONAL),
    create_field("note", ["null", "string"], **OPTIONAL),
)


def amount(random: Random) -> Decimal:
    """Return a price."""
    return Decimal(random.randrange(1, 10**7)).scaleb(-2)


def create_realistic(random: Random) -> dict[str, Any]:
    """Return an order of 15 fields."""
    card = {"network": "visa", "last_digits": f"{random.randrange(10**4):04}"}
    transfer = {"iban": f"DE{random.randrange(10**20)}", "booked_on": date(2024, 1, 1 + random.randrange(28))}
    return {
        "order_id": UUID(int=random.getrandbits(128)),
        "channel": random.choice(["web", "app", "shop"]),
        "customer": random.randrange(10**6),
        "placed_at": create_timestamp(random),
        "status": random.choice(STATUS["symbols"]),
        "priority": random.choice(["LOW", "HIGH"]),
        "gift": not random.randrange(10),
        "items": random.randrange(20),
        "weight": random.random() * 30,
        "total": amount(random),
        "address": {"street": f"Main {random.randrange(200)}", "city": create_word(random), "zip": "50667"},
        "lines": [
            {"sku": f"S{random.randrange(10**5)}", "quantity": random.randrange(1, 9), "price": amount(random)}
            for _ in range(3)
        ],
        "tags": {"source": "mail", "campaign": create_word(random)},
        "payment": random.choice([None, card, card, transfer]),
        "note": random.choice([None, None, "leave at the door"]),
    }


DEPTH: Final = 6


def _nesting(depth: int) -> dict[str, Any]:
    inner = [create_field("inner", ["null", _nesting(depth - 1)], **OPTIONAL)] if depth else []
    own = [create_field("label", "string"), create_field("number", "long")]
    return create_record(f"Level{depth}", *own, *inner)


def create_nested(random: Random, depth: int = DEPTH) -> dict[str, Any]:
    """Return nested records, each behind a union with null."""
    own = {"label": create_word(random), "number": random.randrange(10**6)}
    return own | {"inner": create_nested(random, depth - 1)} if depth else own


WIDE_UNION: Final = ["null", "boolean", "long", "double", "string", {"type": "array", "items": "long"}]
PARTIES: Final = [
    create_record("Person", create_field("family_name", "string"), create_field("born", "int")),
    create_record("Company", create_field("company_name", "string"), create_field("employees", "int")),
    create_record("Robot", create_field("serial", "long")),
]
UNIONS: Final = create_record(
    "Choices",
    *(create_field(f"any_{number}", WIDE_UNION) for number in range(4)),
    create_field("from_party", ["null", *PARTIES]),
    create_field("to_party", ["null", "Person", "Company", "Robot"]),
    *(create_field(f"text_{number}", ["null", "string"], **OPTIONAL) for number in range(4)),
)


def create_unions(random: Random) -> dict[str, Any]:
    """Return values of unions with many branches."""

    def either() -> Any:
        return random.choice([None, True, random.randrange(10**6), random.random(), create_word(random), [1, 2, 3]])

    def party() -> Any:
        person = {"family_name": create_word(random), "born": 1970 + random.randrange(50)}
        company = {"company_name": create_word(random), "employees": random.randrange(500)}
        return random.choice([None, person, company, {"serial": random.randrange(10**9)}])

    values = {f"any_{number}": either() for number in range(4)}
    values |= {"from_party": party(), "to_party": party()}
    return values | {f"text_{number}": random.choice([None, create_word(random)]) for number in range(4)}


COLUMNS: Final = ("string", "long", "double", "boolean", ["null", "string"], "int")
WIDE: Final = create_record("Row", *(create_field(f"column_{number}", COLUMNS[number % 6]) for number in range(150)))


def create_wide(random: Random) -> dict[str, Any]:
    """Return a row of 150 columns."""
    column_makers: list[Callable[[], Any]] = [
        lambda: create_word(random),
        lambda: random.randrange(10**9),
        random.random,
        lambda: random.choice([True, False]),
        lambda: random.choice([None, create_word(random)]),
        lambda: random.randrange(1000),
    ]
    return {f"column_{number}": column_makers[number % 6]() for number in range(150)}


POINT: Final = create_record("Point", create_field("at", "long"), create_field("value", "double"))
ARRAYS: Final = create_record(
    "Series",
    create_field("name", "string"),
    create_field("unit", "string"),
    create_field("numbers", {"type": "array", "items": "long"}),
    create_field("shares", {"type": "array", "items": "double"}),
    create_field("words", {"type": "array", "items": "string"}),
    create_field("points", {"type": "array", "items": POINT}),
)


def create_arrays(random: Random) -> dict[str, Any]:
    """Return arrays of 50 items each, and one of 20 records."""
    return {
        "name": create_word(random),
        "unit": "kWh",
        "numbers": [random.randrange(10**5) for _ in range(50)],
        "shares": [random.random() for _ in range(50)],
        "words": [create_word(random) for _ in range(50)],
        "points": [{"at": random.randrange(10**12), "value": random.random()} for _ in range(20)],
    }


NUMBERS: Final = create_record(
    "Numbers",
    create_field("name", "string"),
    create_field("longs", {"type": "array", "items": "long"}),
    create_field("ints", {"type": "array", "items": "int"}),
    create_field("doubles", {"type": "array", "items": "double"}),
    create_field("floats", {"type": "array", "items": "float"}),
)


def create_numbers(random: Random) -> dict[str, Any]:
    """Return four arrays of 50 numbers each."""
    return {
        "name": create_word(random),
        "longs": [random.randrange(-(10**9), 10**9) for _ in range(50)],
        "ints": [random.randrange(1000) for _ in range(50)],
        "doubles": [random.random() for _ in range(50)],
        "floats": [float(random.randrange(1000)) for _ in range(50)],
    }


TEXTS: Final = create_record(
    "Texts",
    create_field("name", "string"),
    create_field("words", {"type": "array", "items": "string"}),
    create_field("labels", {"type": "map", "values": "string"}),
    create_field("counts", {"type": "map", "values": "long"}),
)


def create_texts(random: Random) -> dict[str, Any]:
    """Return an array of 50 strings, and two maps of 20 entries each."""
    return {
        "name": create_word(random),
        "words": [create_word(random) for _ in range(50)],
        "labels": {f"label-{number}": create_word(random) for number in range(20)},
        "counts": {f"count-{number}": random.randrange(10**5) for number in range(20)},
    }


ITEM: Final = create_record(
    "Item",
    create_field("sku", "string"),
    create_field("quantity", "int"),
    create_field("price", "double"),
    create_field("gift", "boolean"),
)
ITEMS: Final = create_record(
    "Basket", create_field("name", "string"), create_field("items", {"type": "array", "items": ITEM})
)


def create_items(random: Random) -> dict[str, Any]:
    """Return an array of 50 records."""
    return {
        "name": create_word(random),
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
NULLABLE: Final = create_record(
    "NullableRow",
    *(
        create_field(f"column_{number}", MIXED[number // 2 % 6] if number % 2 else ["null", MIXED[number // 2 % 6]])
        for number in range(150)
    ),
)


def create_nullable(random: Random) -> dict[str, Any]:
    """Return a row of 150 columns, half of which are nullable."""
    column_makers: list[Callable[[], Any]] = [
        lambda: create_word(random),
        lambda: random.randrange(10**9),
        random.random,
        lambda: random.choice([True, False]),
        lambda: random.randrange(1000),
        lambda: float(random.randrange(1000)),
    ]
    return {
        f"column_{number}": None if number % 2 == 0 and not random.randrange(3) else column_makers[number // 2 % 6]()
        for number in range(150)
    }


def _shapes() -> Iterator[RecordShape]:
    yield RecordShape("small", SMALL, create_small)
    yield RecordShape("realistic", REALISTIC, create_realistic)
    yield RecordShape("nested", _nesting(DEPTH), create_nested)
    yield RecordShape("unions", UNIONS, create_unions)
    yield RecordShape("wide", WIDE, create_wide)
    yield RecordShape("nullable", NULLABLE, create_nullable)
    yield RecordShape("arrays", ARRAYS, create_arrays)
    yield RecordShape("numbers", NUMBERS, create_numbers)
    yield RecordShape("texts", TEXTS, create_texts)
    yield RecordShape("items", ITEMS, create_items)


RECORD_SHAPES: Final = {shape.name: shape for shape in _shapes()}
