"""Runner of the command line against a registry in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.schema import Reference, SchemaDraft

ID, NOTE = '{"name":"id","type":"long"}', '{"name":"note","type":["null","string"],"default":null}'


def order(*fields: str) -> SchemaDraft:
    return SchemaDraft(f'{{"type":"record","name":"Order","fields":[{",".join((ID, *fields))}]}}')


LINE = SchemaDraft(
    '{"type":"record","name":"Line","fields":[{"name":"order","type":"Order"}]}',
    references=(Reference("Order", "orders-value", 1),),
)


@dataclass
class Ran:
    """A verb that has run."""

    code: int
    out: str
    err: str

    @property
    def body(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


def runner(app: ASGIApp, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **options: Any) -> Run:
    """Return a function that runs a verb against an app."""

    def connect(url: str, **settings: Any) -> Registry:
        return Registry(app=app, **settings | options)

    def run(*arguments: str) -> Ran:
        patch.setattr(cli_options, "Registry", connect)  # here, because a test may use two servers
        capsys.readouterr()
        code = main(arguments)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Ran(code, printed.out, printed.err)

    return run
