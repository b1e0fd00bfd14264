"""Rules for the registry: one store, one way of wiring, one module for each decision."""

from __future__ import annotations

import ast
import re
from dataclasses import fields

from support.source_tree import ROOT, calls_by_module, calls_of, imports, modules, modules_with


def test_the_store_is_one_class_and_no_snapshot_pretends_to_have_a_connection() -> None:
    declared = [
        path
        for path, tree in modules("registry/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith("Store")
    ]
    assert declared == ["registry/storage/store.py"]
    assert not [path for path, module, name in imports("registry/storage/") if (module, name) == ("typing", "cast")]


def test_storage_is_given_permissions_and_reads_no_context_variable_for_them() -> None:
    names = {name for _, module, name in imports("registry/storage/") if module.endswith("access.current_caller")}
    assert names == {"current_actor"}  # the default actor of the change log


def test_imports_parse_a_schema_and_an_association_in_one_place_for_all_sources() -> None:
    assert set(calls_by_module("registry/transfer/", "TransferredSchema")) == {
        "registry/transfer/database_access.py",  # rows of our own tables, which need no parsing
        "registry/transfer/import_parsers.py",
    }
    assert set(calls_by_module("registry/transfer/", "StoredAssociation")) == {"registry/transfer/import_parsers.py"}


def test_transfer_declares_the_settings_of_a_scope_once() -> None:
    assert modules_with("registry/transfer", '"aliasForDeks"') == {"registry/transfer/config_columns.py"}


def test_storage_writes_the_row_of_a_schema_in_one_place() -> None:
    assert set(calls_by_module("registry/", "schema_row")) == {
        "registry/storage/batch_append.py",
        "registry/transfer/import_plan.py",
    }
    assert modules_with("registry/", '"normalized_hash":') == {"registry/storage/batch_append.py"}


def test_the_settings_of_a_scope_are_declared_once_and_stored_under_their_names() -> None:
    from contractlog.registry.storage.store_values import ScopeSettings
    from contractlog.registry.storage.tables import settings
    from contractlog.registry.transfer.config_columns import config_to_columns

    names = {member.name for member in fields(ScopeSettings)}
    assert {column.name for column in settings.columns} == names | {"key", "context", "name"}
    assert config_to_columns({}).keys() == names - {"mode"}


def test_each_route_has_its_permission_beside_its_path_and_each_router_is_listed_once() -> None:
    listed = (ROOT / "registry/features/routers.py").read_text(encoding="utf-8")
    wrong = []
    for path, tree in modules("registry/features/"):
        if not re.fullmatch(r"registry/features/\w+/routes\.py", path):
            continue
        feature = path.split("/")[2]
        if listed.count(f"features.{feature} import routes") != 1:
            wrong.append(f"{path}: not in registry/features/routers.py")
        for node in ast.walk(tree):
            decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())]
            if any(text.startswith("router.") for text in decorators) and not decorators[-1].startswith("requires("):
                wrong.append(f"{path}:{node.lineno}: no @requires below the path")
    assert not wrong, "\n".join(wrong)


def test_routes_read_parameters_by_annotated_aliases_alone() -> None:
    wrong = []
    for path, tree in modules("registry/"):
        for node in ast.walk(tree):
            decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())]
            if isinstance(node, ast.AsyncFunctionDef) and any(text.startswith("router.") for text in decorators):
                parameters = (*node.args.args, *node.args.kwonlyargs)
                plain = {ast.unparse(item.annotation) for item in parameters if item.annotation}
                plain &= {"str", "int", "bool", "dict", "list"}
                calls = {ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
                if plain or calls & {"parse_enum", "parse_integer", "parse_subject_version"}:
                    wrong.append(f"{path}:{node.lineno}: {node.name}")
    assert not wrong, "\n".join(wrong)


def test_a_registration_computes_content_hashes_and_guid_in_one_place() -> None:
    assert calls_by_module("registry/", "build_content") == {"registry/registration/candidate.py": 1}
    for folder in ("registry/registration/", "registry/features/", "registry/http/"):
        assert set(calls_by_module(folder, "compute_guid")) <= {"registry/registration/candidate.py"}
        assert set(calls_by_module(folder, "PendingAppend")) <= {"registry/registration/decision.py"}


def test_a_requested_version_is_a_value() -> None:
    numbers = re.compile(r"version(_number)? (==|!=|<=|>) (0|-1)\b|_LATEST: Final = -1")
    folder = ROOT / "registry/registration"
    wrong = [path.name for path in folder.glob("*.py") if numbers.search(path.read_text(encoding="utf-8"))]
    assert wrong == ["references.py"]  # the number in a reference, as it is stored


def test_a_missing_version_and_the_settings_in_force_have_one_implementation() -> None:
    assert calls_by_module("registry/", "VersionNotFound") == {
        "registry/features/compatibility/service.py": 1,  # says so of a missing subject too, as the reference does
        "registry/registration/deletion.py": 1,  # decided on all versions of the subject, which it has read
        "registry/registration/version_lookup.py": 1,
    }
    merging = set(calls_by_module("registry/features/", "ScopeSettings.merge"))
    assert merging == {"registry/features/config_and_mode/service.py"}  # it needs each scope's own settings too
    assert not calls_by_module("registry/registration/", "ScopeSettings.merge")
    assert set(calls_by_module("registry/", "retry_stale")) == {
        "registry/features/associations/service.py",
        "registry/features/contracts/service.py",
        "registry/registration/service.py",
    }


def test_the_change_log_is_read_in_one_place() -> None:
    assert modules_with("registry/", "tables.changes") == {"registry/storage/change_log.py"}


def test_a_limit_of_dependencies_is_written_once() -> None:
    limits = {
        (path, ast.unparse(node.target))
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) in {"MAX_DEPENDENCIES", "MAX_REFERENCED"}
    }
    assert limits == {
        ("compatibility/limits.py", "MAX_DEPENDENCIES"),  # what a registry parses with a schema
        ("clients/calls/schemas.py", "MAX_REFERENCED"),  # what a client fetches from a registry that may be hostile
    }


def test_the_bounds_of_a_setting_stand_beside_it() -> None:
    assert not (ROOT / "registry/setting_parser.py").exists()
    assert modules_with("registry/", "Bounds(") == {"registry/settings.py"}


def test_an_association_is_declared_once_and_columns_and_members_have_its_names() -> None:
    from contractlog.clients.calls.associations import Association
    from contractlog.registry.features.associations.bodies import AssociationBody
    from contractlog.registry.storage.associations import StoredAssociation
    from contractlog.registry.storage.tables import associations

    names = {member.name for member in fields(StoredAssociation)}
    assert {column.name for column in associations.columns} == names | {"context", "subject_key"}
    times = {"created_at", "updated_at"}
    assert {member.name for member in fields(Association)} == names - times | {"create_ts", "update_ts"}
    assert set(AssociationBody.__struct_fields__) == names - times | {"create_ts", "update_ts"}
    theirs = {
        member.target.id
        for path, tree in modules("clients/")
        for node in tree.body
        if path == "clients/confluent/data_classes.py" and isinstance(node, ast.ClassDef) and node.name == "Association"
        for member in node.body
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
    }
    assert theirs
    assert theirs < names


def test_members_of_an_association_are_named_by_its_attributes() -> None:
    assert modules_with("clients/", '"associationType":') == set()
    assert modules_with("registry/", '"associationType":') == {"registry/http/openapi.py"}  # its description
    assert modules_with("clients/", '"resourceName":') | modules_with("registry/", '"resourceName":') == set()
    assert modules_with("compatibility/", '"resourceName":') == {"compatibility/association_values.py"}


def test_the_registry_verifies_an_audit_result_by_the_declaration_of_the_report() -> None:
    from contractlog.contracts.audit.report import AuditedPart, TopicPart
    from contractlog.registry.features.conformance.service import _TopicEntry

    assert AuditedPart.__annotations__.keys() < _TopicEntry.__annotations__.keys() < TopicPart.__annotations__.keys()
    assert modules_with("registry/", "from_offset: int") == set()
    assert modules_with("registry/", "conforming: int") == {"registry/features/conformance/queries.py"}  # for metrics


def test_only_storage_and_queries_of_features_execute_statements() -> None:
    """A resource's SQL stands in its ``queries.py``, whose functions services, routes and the registration call."""

    def executes_statements(path: str) -> bool:
        return path.startswith("registry/storage/") or bool(re.fullmatch(r"registry/features/\w+/queries\.py", path))

    connected = {
        path
        for path, tree in modules("registry/")
        if not executes_statements(path)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "connection"
    }
    statements = {
        path
        for path, module, name in imports("registry/")
        if module.split(".")[0] == "sqlalchemy" and name in {"delete", "insert", "select", "text", "update"}
    }
    assert not connected
    assert {path for path in statements if not executes_statements(path)} == {
        "registry/database.py"
    }  # before there is a store


def test_each_shortcut_names_its_benchmark_and_its_gain() -> None:
    """A part of a shortcut, which only modules of the folder import, needs no gain of its own."""
    gain = re.compile(r"Gain \(``benchmarks/registry/fastpath\.py --only [\w,]+``\):.* instead of \d", re.DOTALL)
    shortcuts = {
        path
        for path, tree in modules("registry/http/fastpath/")
        if gain.search(ast.get_docstring(tree) or "") or path.endswith("__init__.py")
    }
    parts = {path for path, _ in modules("registry/http/fastpath/")} - shortcuts
    imported = {
        module.removeprefix("contractlog.").replace(".", "/") + ".py"
        for path, module, _ in imports("registry/http/fastpath/")
        if path in shortcuts | parts
    }
    assert parts <= imported, parts - imported


#: What reaches into the server or tunes the interpreter, and the one module in which it may.
TUNING = {
    "uvicorn.protocols": {"registry/http/bounded_protocol.py"},  # limits of a request's head, not a shortcut
    "setswitchinterval": {"registry/execution/thread_pools.py"},  # fairness during long work, not a shortcut
    "gc": {"registry/serving/server.py"},  # thresholds, with their gain in a comment
}


def test_the_server_is_tuned_in_named_modules_only() -> None:
    tuning: dict[str, set[str]] = {name: set() for name in TUNING}
    for path, tree in modules("registry/"):
        if any(calls_of(tree, "setswitchinterval")):
            tuning["setswitchinterval"].add(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import) and any(alias.name == "gc" for alias in node.names):
                tuning["gc"].add(path)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("uvicorn.protocols"):
                tuning["uvicorn.protocols"].add(path)
    assert tuning == TUNING
