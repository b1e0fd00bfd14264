"""Comparison of the files and the manifest's settings with the registry."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter

from contractlog.clients.cli.associations.association_keys import association_key, describe_part
from contractlog.clients.cli.associations.comparison import AssociationComparison, compare_associations
from contractlog.clients.cli.associations.file_facts import FileFacts, collect_file_facts
from contractlog.clients.cli.check.checked_files import find_manifest_warnings, find_usages
from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.known_versions import KnownVersions
from contractlog.clients.cli.check.refused_changes import (
    RefusedChange,
    find_refused_deletion,
    find_refused_settings,
    find_refused_unbinding,
)
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.operations.referrers import find_referrers
from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.plan_and_apply.association_steps import BindSubject, UnbindSubject
from contractlog.clients.cli.plan_and_apply.contract_steps import PlannedContracts, find_contract_files
from contractlog.clients.cli.plan_and_apply.file_registration import FileRegistration
from contractlog.clients.cli.plan_and_apply.lowered_levels import find_lowered_levels
from contractlog.clients.cli.plan_and_apply.protected_steps import ProtectedStep, find_protected_steps
from contractlog.clients.cli.plan_and_apply.registration import Registration
from contractlog.clients.cli.plan_and_apply.steps import (
    DeleteSubject,
    Register,
    RegisterWaived,
    SetConfig,
    SetLevel,
    SetMode,
    Step,
    compute_digest,
    setting_step,
)
from contractlog.clients.cli.registry_lookups import list_live
from contractlog.clients.cli.schema_folder.argument_files import reads_whole_folder
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.contract_differences import (
    declares_contract,
    describe_differences,
    list_differences,
)
from contractlog.clients.cli.schema_folder.locked_files import find_folder_of_subject
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import ManifestWarning
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import find_setting_changes, plan_settings
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.functions_by_name import import_function
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.errors import Forbidden, UsageError
from contractlog.compatibility.identifiers import Subject, Version
from contractlog.compatibility.mode import Mode

__all__ = ["Plan", "make_plan", "require_prunable"]


@dataclass(frozen=True)
class Plan:
    """Changes that the registry needs to match the files."""

    manifest: Manifest | None
    settings: tuple[SetConfig, ...]
    registrations: tuple[FileRegistration, ...]
    latest: dict[str, int]  #: subject -> number of its latest version; 0 if there is none
    live_subjects: frozenset[str] = frozenset()  #: those of the registry that may be deleted
    #: subject -> name of the rule that it matches, without ``--prune``; None if a part of the folder was compared
    without_file: Mapping[str, str] | None = None
    deletions: tuple[DeleteSubject, ...] = ()
    referenced: tuple[tuple[str, str], ...] = ()  #: subjects that cannot be deleted, and what references them
    associations: AssociationComparison = field(default_factory=AssociationComparison)
    unbindings: tuple[UnbindSubject, ...] = ()
    contracts: PlannedContracts = field(default_factory=PlannedContracts)
    manifest_warnings: tuple[ManifestWarning, ...] = ()
    #: drifted subject whose latest version has the text of its file -> in what else it differs
    differences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused_changes: tuple[RefusedChange, ...] = ()  #: settings, deletions and removals that are not permitted
    protected_steps: tuple[ProtectedStep, ...] = ()  #: that need approvals, those that waivers permit included
    lowered_levels: tuple[SetLevel, ...] = ()  #: that an interrupted registration by waiver left at NONE
    shows_permissions: bool = True  #: False: it is not known whether all changes are permitted

    @property
    def refused(self) -> list[FileRegistration]:
        """Files that cannot be registered."""
        return [each for each in self.registrations if each.outcome == "refused"]

    @property
    def is_blocked(self) -> bool:
        """True if a part cannot be applied, so that nothing is."""
        return bool(self.refused or self.refused_changes or self.referenced or self.associations.problems)

    @property
    def unapproved(self) -> list[ProtectedStep]:
        """Steps that the registry would refuse, because they need approvals."""
        return [each for each in self.protected_steps if not each.is_permitted]

    @property
    def is_empty(self) -> bool:
        """True if nothing would change."""
        others = self.associations.changes or self.unbindings or self.contracts.changes
        changes = self.settings or others or self.deletions
        unchanged = all(each.outcome == "unchanged" for each in self.registrations)
        return unchanged and not changes and not self.is_blocked

    @property
    def bindings(self) -> list[BindSubject]:
        """Subjects that are bound to parts of topics."""
        return [BindSubject(change.subject, change) for change in self.associations.changes]

    def steps(self) -> list[Step]:
        """Return the changes in their order: modes that reject others, and deletions, come last."""
        last = [step for step in self.settings if step.change.after == Mode.READONLY]
        owned = {step.subject: step for step in self.bindings if step.change.lifecycle is Lifecycle.STRONG}
        first = [step for step in self.settings if step not in last]
        registrations: list[Step] = []
        for each in self.registrations:
            if each.outcome == "would register":
                subject = each.file.subject
                step = _registration_step(each, self.latest[subject])
                binding = [owned.pop(subject)] if subject in owned else []  # needs a subject with one version
                registrations += [*binding, step] if self.latest[subject] else [step, *binding]
        bindings = [each for each in self.bindings if each.change.lifecycle is Lifecycle.WEAK]
        others = [*owned.values(), *bindings, *self.unbindings, *self.contracts.changes]
        return [*first, *registrations, *others, *last, *self.deletions]

    @cached_property
    def registered_texts(self) -> frozenset[tuple[str, str]]:
        """Subjects with the SHA-256 of a file that is a version of them, for a saved plan with many steps."""
        unchanged = (each.file for each in self.registrations if each.outcome == "unchanged")
        return frozenset((file.subject, compute_digest(file)) for file in unchanged)

    @property
    def waived(self) -> list[RegisterWaived]:
        """Registrations that the level refuses."""
        return [step for step in self.steps() if isinstance(step, RegisterWaived)]

    @property
    def checks(self) -> list[FileCheck] | None:
        """The checks of all files; None if some files wait for others."""
        checks = [each.check for each in self.registrations if each.check is not None]
        return checks if len(checks) == len(self.registrations) else None

    @property
    def owning_rules(self) -> frozenset[str]:
        """Names of rules for subjects that match subjects of the registry without files."""
        deleted = (each.subject for each in self.deletions)
        rules = [] if self.manifest is None else [self.manifest.find_subject_rule(name) for name in deleted]
        without_file = (self.without_file or {}).values()
        return frozenset((*without_file, *(rule.name for rule in rules if rule is not None)))

    @property
    def has_drift(self) -> bool:
        """True if the registry has versions, or subjects that the manifest owns, that the files do not have."""
        return bool(self.without_file or self.associations.unlisted) or any(self.drift())

    def describe_drift(self) -> Iterator[tuple[str, str]]:
        """Yield drifted subjects, each with sentences for people."""
        files = {each.file.subject: each.file for each in self.registrations}
        for subject, version, latest in self.drift():
            text = f"version {latest} of the registry is not in the files, which have version {version}"
            if subject in self.differences:
                text += f": it has the same text, and {describe_differences(self.differences[subject])}"
            file = files[subject]
            parent = file.path.parent if file.version is None else file.path.parent.parent
            top = None if self.manifest is None else self.manifest.path.parent
            pull = registry_command("pull", subject, out=str(find_folder_of_subject(top, subject) if top else parent))
            deletion = registry_command("delete", f"{subject}:{latest}")
            advice = f"Pull the version: `{pull}`. Or delete it: `{deletion}`. (The files may be from an older commit.)"
            yield subject, f"`{subject}`: {text}. {advice}"
        for subject, rule in (self.without_file or {}).items():
            text = f"it matches [[subjects]] `{rule}` and has no file"
            out = None if self.manifest is None else str(find_folder_of_subject(self.manifest.path.parent, subject))
            advice = f"add it: {registry_command('pull', subject, out=out)}, or delete it with --prune"
            yield subject, f"`{subject}`: {text}; {advice}"

        for association in self.associations.unlisted:
            _, topic, part = association_key(association)
            text = f"{describe_part(topic, part)} is bound to it, and [[associations]] has no such entry"
            removal = ", or remove it with --prune" if association.lifecycle == Lifecycle.WEAK else ""
            yield association.subject, f"`{association.subject}`: {text}; add it{removal}"

    def drift(self) -> Iterator[tuple[str, int, int]]:
        """Yield drifted subjects with a file: the subject, the version of its file, and the latest version.

        A schema comes before those that it references, in the order in which versions can be deleted.
        """
        newest: dict[str, int] = {}
        for each in self.registrations:
            version_of_file = 0 if each.schema is None else each.schema.version or 0
            newest[each.file.subject] = max(newest.pop(each.file.subject, 0), version_of_file)
        registering = {each.file.subject for each in self.registrations if each.outcome != "unchanged"}
        for subject, version in reversed(newest.items()):
            if subject not in registering and version < self.latest[subject]:
                yield subject, version, self.latest[subject]


def _registration_step(planned: FileRegistration, after_version: int) -> Register:
    subject, check = planned.file.subject, planned.check
    if check is not None and check.level is not None and check.needs_level_change:
        return RegisterWaived(subject, planned, after_version, check.level)
    return Register(subject, planned, after_version)


def make_plan(
    options: Namespace, registry: Registry, files: Sequence[SchemaFile], unreadable: UnreadableFiles
) -> tuple[Registration, Plan]:
    """Compare the files and the manifest's settings with the registry."""
    resolver = FileResolver(registry, options.normalize, options.manifest, options.files_beside)
    resolved = {each.file.key: each for each in resolver.resolve_all(files, unreadable.collect)}
    subjects = dict.fromkeys(file.subject for file in files)
    changes = {subject: list(find_setting_changes(registry, options.manifest, subject)) for subject in subjects}
    manifest = options.manifest
    planned = {
        subject: plan_settings(each, manifest.find_settings(subject) if manifest is not None else None)
        for subject, each in changes.items()
    }
    usages = find_usages(options, registry, resolved.values())
    known_versions = KnownVersions(options.context)
    access = WriteAccess(registry)
    registration = Registration(registry, resolver, resolved, planned, manifest, usages, known_versions, access)
    steps = registration.plan_all(file for file in files if file.key in resolved)
    latest = {subject: max(list_live(registry, subject), default=0) for subject in subjects}
    settings = tuple(step for each in changes.values() for step in sorted(map(setting_step, each), key=_is_other))
    covers_folder = manifest is not None and reads_whole_folder(options) and not unreadable.problems
    facts = collect_file_facts(
        (each.file for each in steps if each.outcome != "unchanged"),
        subjects,
        manifest,
        covers_folder=covers_folder,
    )
    associations = compare_associations(registry, manifest, options.context, facts, access=access, prune=options.prune)
    plan = Plan(manifest, settings, tuple(steps), latest, associations=associations)
    plan = replace(plan, differences=dict(_find_differences(registry, plan)))
    plan = replace(plan, contracts=_plan_contracts(options, registry, plan, unreadable))
    owner = manifest if manifest is not None and (manifest.subjects or options.prune) else None
    if owner is not None and covers_folder:
        plan = _compare_subjects(options, registry, owner, plan)
    if options.prune:
        plan = _add_deletions(_add_unbindings(plan), registry, [each.file for each in resolved.values()])
    warnings = find_manifest_warnings(options, files, unreadable, plan.checks, plan.owning_rules)
    refused = tuple(_find_refused(access, plan, facts))
    unread_context = options.context if unreadable.problems else None
    lowered = tuple(find_lowered_levels(registry, manifest, settings, steps, unread_context))
    plan = replace(plan, refused_changes=refused, lowered_levels=lowered, shows_permissions=not access.unknown_subjects)
    protected = tuple(find_protected_steps(access, registry, plan.steps()))
    return registration, replace(plan, manifest_warnings=tuple(warnings), protected_steps=protected)


def _plan_contracts(
    options: Namespace, registry: Registry, plan: Plan, unreadable: UnreadableFiles
) -> PlannedContracts:
    """Compare the contracts beside the schema files; contracts are of topics of the default context."""
    files = {} if options.context else find_contract_files(each.file for each in plan.registrations)
    if not files:
        return PlannedContracts()
    registering = [each.file.subject for each in plan.registrations if each.outcome == "would register"]
    compare = import_function("contractlog.clients.cli.plan_and_apply.contract_comparison:compare_contracts")
    planned: PlannedContracts = compare(registry, files, registering, unreadable)
    return planned


def _find_differences(registry: Registry, plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield drifted subjects whose latest version differs from the file only in metadata or rules."""
    files = {(each.file.subject, each.schema.version): each for each in plan.registrations if each.schema is not None}
    for subject, version, latest in plan.drift():
        each = files.get((subject, Version(version)))
        if each is None or each.schema is None or not declares_contract(each.file.draft):
            continue
        existing, newest = (registry.version(subject, number) for number in (version, latest))
        if (newest.text, newest.references) == (existing.text, existing.references):
            yield subject, list_differences(each.file.draft, newest)


def _find_refused(access: WriteAccess, plan: Plan, facts: FileFacts) -> Iterator[RefusedChange]:
    """Yield the changes other than versions and bindings that the registry would refuse."""
    for _, steps in groupby(plan.settings, key=attrgetter("subject")):
        yield from find_refused_settings(access, plan.manifest, [step.change for step in steps])
    for step in plan.unbindings:
        _, topic, part = association_key(step.association)
        yield from find_refused_unbinding(
            access, plan.manifest, step.subject, topic, part, writable=step.subject in facts.writable
        )
    for deletion in plan.deletions:
        yield from find_refused_deletion(access, plan.manifest, deletion.subject)


def _is_other(step: SetConfig) -> bool:
    """Sort modes before other settings, which a read-only subject does not accept."""
    return not isinstance(step, SetMode)


def require_prunable(options: Namespace) -> None:
    """Refuse ``--prune`` without the whole folder of a manifest.

    Raises:
        UsageError: there is no manifest, or only some files are named.
    """
    if options.prune and options.manifest is None:
        raise UsageError(f"--prune needs a manifest: {MANIFEST} says which subjects may be deleted")
    if options.prune and not reads_whole_folder(options):
        raise UsageError("--prune compares the whole folder of the manifest: name no other files, and no --subject")


def _compare_subjects(options: Namespace, registry: Registry, manifest: Manifest, plan: Plan) -> Plan:
    """Add the subjects of the context, and those of them that the manifest owns and that have no file."""
    scope = f":{options.context}:" if options.context else ""
    home = Subject.parse(f"{scope}x").context
    try:
        names = registry.subjects(prefix=scope)
    except Forbidden:
        if options.prune:
            raise
        print_message("note: subjects without a file are not shown, because listing subjects is not permitted")
        return plan
    live = frozenset(name for name in names if Subject.parse(name).context == home)
    rules = {name: manifest.find_subject_rule(name) for name in sorted(live - plan.latest.keys())}
    without_file = {name: rule.name for name, rule in rules.items() if rule is not None}
    return replace(plan, live_subjects=live, without_file=without_file)


def _add_unbindings(plan: Plan) -> Plan:
    """Remove the unlisted associations of owned subjects that do not end only with their subject."""
    unlisted = plan.associations.unlisted
    weak = [each for each in unlisted if each.lifecycle == Lifecycle.WEAK]
    rest = tuple(each for each in unlisted if each not in weak)
    unbindings = tuple(UnbindSubject(each.subject, each) for each in weak)
    return replace(plan, associations=replace(plan.associations, unlisted=rest), unbindings=unbindings)


def _add_deletions(plan: Plan, registry: Registry, files: Sequence[SchemaFile]) -> Plan:
    """Delete the owned subjects without a file, users before what they reference."""
    users = {name: dict(_find_users(plan, registry, name, files)) for name in plan.without_file or ()}
    ordered: list[str] = []
    while free := [name for name in users if name not in ordered and users[name].keys() <= {name, *ordered}]:
        ordered += free
    referenced = tuple(
        (name, user)
        for name in users
        if name not in ordered
        for user in dict.fromkeys(text for subject, text in users[name].items() if subject not in {name, *ordered})
    )
    deletions = tuple(DeleteSubject(name, tuple(list_live(registry, name))) for name in ordered)
    return replace(plan, without_file=None, deletions=deletions, referenced=referenced)


def _find_users(plan: Plan, registry: Registry, subject: str, files: Sequence[SchemaFile]) -> Iterator[tuple[str, str]]:
    """Yield the subjects and descriptions of what references a subject: versions, files and topics."""
    ended = {association_key(step.association) for step in plan.unbindings}
    ended |= {change.key for change in plan.associations.changes}
    for key, association in plan.associations.existing.items():
        if association.subject == subject and key not in ended:
            yield "", f"an association ({association.lifecycle}) of {describe_part(*key[1:])}"
    for each in find_referrers(registry, subject, list_live(registry, subject), deleted=False):
        yield "" if each.subject is None else str(each.subject), each.description
    for file in files:
        if any(str(Subject.parse(each.subject)) == subject for each in file.draft.references):
            yield file.subject, str(file.path)
