"""Rules for clients: one description per operation, one driver, no generated classes."""

from __future__ import annotations

import ast

from support.source_tree import calls_of, imports, modules


def test_client_methods_are_made_of_one_description_of_each_operation() -> None:
    """Both clients send only what ``calls/`` describes; no method of one is written again for the other."""
    sources = {"clients/registry.py", "clients/async_registry.py"}
    sources |= {"clients/confluent/client.py", "clients/confluent/async_client.py"}
    tables = {}
    for path, tree in modules("clients/"):
        if path in sources:
            made = [
                (target.id, ast.unparse(node.value.args[0]))
                for node in ast.walk(tree)
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
                for target in node.targets
                if isinstance(target, ast.Name) and ast.unparse(node.value.func).endswith("endpoint")
            ]
            assert all(name == description.rpartition(".")[2] for name, description in made)
            tables[path] = sorted(made)
            assert not [call for name in ("Call", "by_id") for call in calls_of(tree, name)]
    assert tables["clients/registry.py"] == tables["clients/async_registry.py"]
    assert tables["clients/confluent/client.py"] == tables["clients/confluent/async_client.py"]
    assert min(map(len, tables.values())) > 30


def test_each_http_client_has_a_limit_for_the_whole_call() -> None:
    """The timeouts of httpx2 are for each read: ``TimeLimit`` limits blocking clients, ``asyncio.timeout`` others."""
    limits = {"Client": "TimeLimit", "AsyncClient": "asyncio.timeout"}
    unlimited = {"get", "post", "put", "patch", "delete", "head", "request", "stream"}
    calls = [
        (path, tree, call.func.attr)
        for path, tree in modules()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in {*limits, *unlimited} and ast.unparse(call.func.value).endswith("httpx2")
    ]
    assert len(calls) > 3
    assert not [
        (path, name) for path, tree, name in calls if name in unlimited or not any(calls_of(tree, limits[name]))
    ]


def test_clients_make_no_classes_at_run_time() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in modules("clients/")
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.Attribute) and node.attr == "__bases__")
    ]
    assert not wrong


def test_no_class_is_made_by_a_call() -> None:
    wrong = [
        f"{path}:{call.lineno}"
        for path, tree in modules()
        for name in ("type", "new_class", "make_dataclass")
        for call in calls_of(tree, name)
        if name != "type" or len(call.args) > 1
    ]
    assert not wrong


def test_one_driver_sends_attempts_and_sequences() -> None:
    """Generators without I/O are driven in ``clients/step_drivers.py``; ``method_factories.py`` reads pages, too."""
    drivers = {
        path
        for path, tree in modules("clients/")
        if any(
            ast.unparse(call.func) in {"steps.send", "pages.send", "attempts.send"} for call in calls_of(tree, "send")
        )
        or any(calls_of(tree, "throw"))
    }
    assert drivers == {"clients/step_drivers.py", "clients/method_factories.py"}


def test_clients_import_the_command_line_nowhere_but_in_it() -> None:
    wrong = [
        path
        for path, module, _ in imports("clients/")
        if not path.startswith("clients/cli/") and module.startswith("contractlog.clients.cli")
    ]
    assert not wrong


#: What is written in the place of a file, and why it is not written by ``clients/atomic_file.py``.
REPLACED_OTHERWISE = {
    "registry/access/users_file_editor.py": "keeps the owner of the file, and waits until it is on disk",
    "spark_validation/spark/class_archive.py": "written by Java",
    "spark_validation/sources/archive_folder.py": "a Parquet file, written by its own library",
    "spark_validation/violations/violations_file.py": "a Parquet file, written by its own library",
}


def test_files_are_replaced_by_one_helper() -> None:
    replacing = {
        path
        for path, tree in modules()
        for call in calls_of(tree, "replace")
        if len(call.args) == 1 and not call.keywords and isinstance(call.func, ast.Attribute)
    }
    assert replacing == {"clients/atomic_file.py", *REPLACED_OTHERWISE}


def test_bases_are_changed_in_one_module_and_others_import_confluent_kafka_plainly() -> None:
    changing = {
        path
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "__bases__"
    }
    assert changing == {"compatibility/confluent_bases.py"}  # its docstring has the cost of an import
    assert {path for path, module, _ in imports("clients/") if module.startswith("confluent_kafka")} == {
        "clients/confluent/bases.py"
    }
