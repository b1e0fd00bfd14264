"""Write the documents that are made from the code; with ``--check``, fail when one of them lags.

python docs/generate.py [--check]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from contractlog.clients.cli.verbs import VERBS
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.formats import CATALOGUE, FORMATS
from contractlog.compatibility.json_schema.diff.difference_catalogue import STRICT
from contractlog.compatibility.lint.linter import LINT_RULES
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import FORMAT, AuditReport
from contractlog.registry.http import openapi_file
from contractlog.registry.telemetry.metric_catalogue import CATALOGUE as CATALOGUE_OF_METRICS

ROOT: Final = Path(__file__).parent.parent
LINT_INTRODUCTION: Final = """\
`contractlog lint` checks schema files by themselves. It needs no registry and opens no connection. In folders it finds
the files that [`check` finds](schemas-as-code.md#files).

```text
contractlog lint schemas/                      # every schema file below the folder
contractlog lint schemas/ --fix                # apply the safe fixes
contractlog lint schemas/ --fail-on warning    # in CI: exit code 1 if there is a warning or an error
contractlog lint --explain LINT_AVRO_ENUM_DEFAULT_MISSING
```

Each finding is one line with file, line, column, severity, a sentence and the id of its rule. `--format json` prints
the same facts, and a JSON Pointer, for programs.

| severity | meaning |
|---|---|
| error | certainly a mistake: a part of the schema has no effect, or no record can be written |
| warning | likely to hurt producers or consumers later |
| note | a convention, or a question for the owner |

The exit code is 1 if there is an error (`--fail-on warning` or `note`: also for these), 2 if a file cannot be read or
is not a schema, else 0. `--disable RULE` turns a rule off, `--only RULE` turns all others off; both can be repeated.
Rules for keys apply to files whose name ends in `-key`. Types and documents of other files are not looked up, and
nothing is reported about them. One rule, `LINT_AVRO_TYPE_UNUSED`, needs the other files: it applies if there is a
manifest, whose whole folder is searched for uses.

`[[lint]]` entries of the [manifest](schemas-as-code.md#the-manifest) turn a rule off, or change its severity, for some
files or subjects, with a reason and, if wanted, a last day:

```toml
[[lint]]
rule = "LINT_AVRO_FIELD_DOC_MISSING"
severity = "off"                       # or error, warning, note
path = "events/**"                     # default: all files
subject = "orders-*"                   # default: all subjects
reason = "documented in the event catalogue"
until = 2027-03-31
```

The first entry for a rule whose `path` and `subject` match a file applies. After the last day the rule applies again,
and each run prints one warning about the entry. `lint` reads `contractlog.toml` in the working directory or in the only
folder that is named; `--manifest` names another one.

A [waiver](schemas-as-code.md#waivers) accepts one finding: it is counted, listed by `--verbose`, and not fixed.
JSON has it in `waived`. If the whole folder of the manifest is linted, each `[[lint]]` entry that applies to no file
has a warning, and each waiver of a lint rule that covers no finding.

`--fix` changes only the text that a fix concerns, so the formatting and the comments of the author stay. Every fix
keeps the schema compatible with the previous version in both directions, under all policies. Fixes of a schema that
is registered already create a new version.

The ids begin with `LINT_` and the format. The ids of [compatibility checks](checks.md), which compare two versions,
do not.
"""
MADE: Final = "<!-- made by docs/generate.py: change the code, then `make docs` -->\n\n"


def errors() -> Iterator[str]:
    """List every code of the wire."""
    yield "# Error codes\n\n" + MADE
    yield 'Error responses have the form `{"error_code": …, "message": …}`; the HTTP status is the first three digits\n'
    yield "of the code. Clients raise the class with this name from `contractlog.compatibility.errors`.\n\n"
    yield "| code | class | message | meaning |\n|---|---|---|---|\n"
    for code, kind in RegistryError.catalogue().items():
        template = "" if kind.template == "{detail}" else f"`{kind.template.replace('{{', '{').replace('}}', '}')}`"
        yield f"| {code} | `{kind.__name__}` | {_cell(template)} | {_cell(_summary(kind.__doc__))} |\n"


def outcomes() -> Iterator[str]:
    """List every outcome of a record."""
    yield "# Outcome codes\n\n" + MADE
    yield "An audit assigns one code to the key and one to the value of each record; the first check that fails\n"
    yield "decides. The frame and the schema id are checked first (codes from 10), then whether validators can use\n"
    yield "the schema (`SCHEMA_NOT_USABLE`), then the bytes (codes from 20), then the keys of encrypted values\n"
    yield "(`UNDECRYPTABLE`), then the rules of the schema (codes from 60; see [Rules](rules.md#in-the-audit)).\n\n"
    yield "| code | number | meaning |\n|---|---|---|\n"
    for outcome in Outcome:
        yield f"| `{outcome.name}` | {outcome.value} | {outcome.meaning} |\n"


def checks() -> Iterator[str]:
    """List every check of the engines."""
    yield "# Compatibility checks\n\n" + MADE
    yield (
        "Each finding contains the id of its check. In the examples, `writer` is the schema that records were written "
        "with, and `reader` is the schema that they are read with. Checks that no level requires report changes that "
        "are [dangerous](schemas-as-code.md#dangerous-changes) or optional.\n"
    )
    shown = _json_cases()
    for spec in CATALOGUE.values():
        yield f"\n## `{spec.id}`\n\n{spec.title}\n\n{spec.explanation}\n"
        for word, (reader, writer) in shown.get(spec.id, {}).items():
            yield f"\n{word}:\n\n```text\nreader  {reader}\nwriter  {writer}\n```\n"
        for word, example in (("Reported", spec.bad), ("Not reported", spec.good)):
            if example is not None:
                yield f"\n{word}:\n\n```text\nreader  {example.reader}\nwriter  {example.writer}\n```\n"


def _json_cases() -> dict[str, dict[str, tuple[str, str]]]:
    """Return of each kind of difference between JSON schemas the shortest pair that has it, and that breaks nothing."""
    shown: dict[str, dict[str, tuple[str, str]]] = {}
    for file in sorted((ROOT / "tests" / "unit" / "compatibility" / "cases" / "json").glob("*.json")):
        found: list[tuple[str, str]] = []
        without: list[tuple[str, str]] = []
        for case in json.loads(file.read_text("utf-8")):
            checks = {finding.split(" ")[0] for finding in case["findings"]}
            if file.stem in checks or checks <= STRICT:
                pairs = found if file.stem in checks else without
                pairs.append((json.dumps(case["reader"]), json.dumps(case["writer"])))
        bad = min(found, key=lambda pair: (len("".join(pair)), pair))
        good = min(without, key=lambda pair: (not {*pair} & {*bad}, len("".join(pair)), pair))  # the nearest
        shown[file.stem] = {"Reported": bad, "Not reported": good}
    return shown


def lint() -> Iterator[str]:
    """Explain `contractlog lint`, and list its rules."""
    yield "# Lint rules\n\n" + MADE
    yield LINT_INTRODUCTION
    for kind in FORMATS:
        rules = [rule for rule in LINT_RULES.values() if rule.id.startswith(f"LINT_{kind}_")]
        yield f"\n## {kind.value}\n\n| rule | severity | fix | finding |\n|---|---|---|---|\n"
        for rule in rules:
            link = f"[`{rule.id}`](#{rule.id.lower()})"
            yield f"| {link} | {rule.severity.value} | {'yes' if rule.fix else ''} | {_cell(rule.summary)} |\n"
    yield "\n## Examples\n"
    for rule in LINT_RULES.values():
        yield f"\n### `{rule.id}`\n\n{rule.summary}.\n"
        if rule.fix:
            yield f"\n`--fix`: {rule.fix}.\n"
        if rule.subject.endswith("-key"):
            yield f"\nThe examples are schemas of the subject `{rule.subject}`.\n"
        yield f"\nReported, at `{rule.at or '/'}`:\n\n```json\n{rule.bad}\n```\n"
        yield f"\nNot reported:\n\n```json\n{rule.good}\n```\n"


def verbs() -> Iterator[str]:
    """Show the help of the command line and of every verb."""
    yield "# The command line\n\n" + MADE
    yield f"```text\n{_help()}\n```\n"
    for name in VERBS:
        yield f"\n## contractlog {name}\n\n```text\n{_help(name)}\n```\n"
        for action in _run_command("completion", "actions", name).split():
            yield f"\n### contractlog {name} {action}\n\n```text\n{_help(name, action)}\n```\n"


def metrics() -> Iterator[str]:
    """List every metric."""
    yield "# Metrics\n\n" + MADE
    yield "`GET /metrics` returns these metrics in the Prometheus text format, summed over all workers of the server.\n"
    yield "Series with labels appear once they are not zero.\n\n"
    yield "| name | kind | labels | meaning |\n|---|---|---|---|\n"
    for metric in CATALOGUE_OF_METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        yield f"| `{metric.name}` | {metric.kind} | {labels} | {_cell(metric.help)} |\n"


def performance() -> Iterator[str]:
    """Yield the figures of the benchmarks of the registry, from their results file."""
    results = json.loads((ROOT / "benchmarks/registry/results.json").read_text("utf-8"))
    before = {(figure["part"], figure["name"]): figure for figure in results["before"]["figures"]}
    yield "# Performance of the registry\n\n"
    yield "Generated from `benchmarks/registry/results.json`; do not edit by hand.\n\n"
    yield (
        "*Before* is the last version in which every request passed through all ASGI layers. The machine was shared\n"
        "with others: compare the two columns of processor time; rates and latencies depend on the load.\n\n"
        "The *bare ASGI application* sends fixed bytes. *Repeated* registers a schema that the subject already has.\n"
        "In the *storm*, 5,000 new clients register a known schema, read it by id, and read config and associations.\n"
        "*One more version* registers a version under a subject with 1,000 versions of 200 fields each, at the level\n"
        "`FULL_TRANSITIVE`, so it is checked against all of them: *cold* in a new process, then *warm*.\n\n"
    )
    yield "| benchmark | variant | CPU µs per request, before | now | requests/s | p50 ms | p99 ms |\n"
    yield "|---|---|---:|---:|---:|---:|---:|\n"
    for figure in results["after"]["figures"]:
        earlier = before.get((figure["part"], figure["name"]), {})
        cells = (earlier.get("cpu_us"), *(figure.get(name) for name in ("cpu_us", "per_second", "p50_ms", "p99_ms")))
        numbers = " | ".join("" if cell is None else f"{cell:,}" for cell in cells)
        yield f"| {figure['part']} | {figure['name']} | {numbers} |\n"
    run = results["after"]["run"]
    yield f"\nMachine: {run['cores']} cores, {run['processor']}; load {run['load']}. Versions: "
    yield ", ".join(f"{name} {number}" for name, number in run["versions"].items()) + ".\n\n"
    yield (
        "```bash\n"
        "python benchmarks/registry/run.py --out benchmarks/registry/results.json\n"
        "python benchmarks/registry/long_history.py --out benchmarks/registry/results.json\n"
        "make docs\n"
        "```\n"
    )


def report_schema() -> Iterator[str]:
    """Yield the JSON Schema of ``report.json``."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"report.json of contractlog audit, format {FORMAT}",
        **msgspec.json.schema(AuditReport),
    }
    schema["$defs"]["AuditReport"]["properties"]["format"] = {"const": FORMAT}
    yield json.dumps(schema, indent=2) + "\n"


def _help(*verb: str) -> str:
    return _run_command(*verb, "--help")


def _run_command(*arguments: str) -> str:
    command = [sys.executable, "-m", "contractlog.clients.cli.main", *arguments]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()  # noqa: S603


def _summary(docstring: str | None) -> str:
    return " ".join((docstring or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


DOCUMENTS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "docs/errors.md": errors,
    "docs/outcomes.md": outcomes,
    "docs/checks.md": checks,
    "docs/lint.md": lint,
    "docs/metrics.md": metrics,
    "docs/performance.md": performance,
    "docs/verbs.md": verbs,
    "contracts/audit/report.schema.json": report_schema,
    "openapi.yaml": lambda: iter([openapi_file.render_yaml()]),
}


def main() -> int:
    """Write all documents, or say which lag."""
    lagging = []
    for name, made in DOCUMENTS.items():
        text, file = "".join(made()), ROOT / name
        if file.exists() and file.read_text("utf-8") == text:
            continue
        lagging.append(name)
        if "--check" not in sys.argv:
            file.write_text(text, "utf-8")
    if not lagging:
        return 0
    if "--check" in sys.argv:
        print(f"{', '.join(lagging)} lag behind the code: run make docs", file=sys.stderr)
        return 1
    print(f"wrote {', '.join(lagging)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
