"""Exception hierarchy: the service raises these classes, and the client raises the same ones again.

ContractlogError
├── UsageError                               the caller's mistake
├── Unreachable, BrokerDenied                a registry or broker cannot be reached; a broker denies an operation
└── RegistryError                            has a wire code; the HTTP status is its first three digits
    ├── BadRequest 400, Unauthorized 401, Forbidden 403, MethodNotAllowed 405, NotAcceptable 406,
    │   RequestTimeout 408, PayloadTooLarge 413, UnsupportedMediaType 415, HeadersTooLarge 431
    ├── NotFound 404     SubjectNotFound 40401 … AssociationNotFound 40410, KeyNotFound 40470 …
    ├── Conflict 409     IncompatibleSchema 40901 …
    ├── Unprocessable 422  InvalidSchema 42201 …
    └── ServerError 500  StoreError 50001 …

Codes and messages match the reference implementation to the letter, odd spaces included. Codes of contractlog's own
resources end in 80 to 89.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from contractlog.compatibility.confluent_bases import SchemaRegistryError, add_loaded_base
from contractlog.compatibility.text.terminal_text import quote_word

_HTTP_STATUS_DIGITS: Final = 3


class ContractlogError(Exception):
    """Base class of all contractlog errors: ``facts`` are attributes, ``message`` is for people."""

    template: ClassVar[str] = "{detail}"

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        self.facts = facts
        self.message = self.template.format_map(facts) if message is None else message
        Exception.__init__(self, self.message)  # not super(): see ``confluent_bases.py``

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["facts"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and (self.message, self.facts) == (other.message, other.facts)

    __hash__ = Exception.__hash__


def _rebuild(cls: type[ContractlogError], message: str, facts: dict[str, Any]) -> ContractlogError:
    return cls(message, **facts)


class UsageError(ContractlogError):
    """A command, file or argument is not usable as given; exit code 2."""


class Unreachable(ContractlogError):
    """A registry or broker cannot be reached; exit code 3."""


class BrokerDenied(ContractlogError):
    """A Kafka broker denies an operation to this user; exit code 4."""


class RegistryError(ContractlogError, SchemaRegistryError):
    """An error response of the registry; with the fact ``confluent_format``, in confluent-kafka's words."""

    code: ClassVar[int]
    _by_code: ClassVar[dict[int, type[RegistryError]]] = {}

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        add_loaded_base(SchemaRegistryError, "confluent_kafka.schema_registry.error", "SchemaRegistryError")
        ContractlogError.__init__(self, message, **facts)

    def __str__(self) -> str:
        return SchemaRegistryError.__str__(self) if "confluent_format" in self.facts else self.message

    def __repr__(self) -> str:
        return str(self) if "confluent_format" in self.facts else super().__repr__()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "code" in cls.__dict__:
            RegistryError._by_code.setdefault(cls.code, cls)

    @property
    def error_code(self) -> int:
        """The code in the response body; a client keeps the code that it received."""
        return int(self.facts.get("error_code", self.code))

    @error_code.setter
    def error_code(self, value: int) -> None:
        self.facts["error_code"] = value

    @property
    def http_status(self) -> int:
        """The HTTP status: the first three digits of ``code``."""
        return int(str(self.code)[:_HTTP_STATUS_DIGITS])

    @property
    def http_status_code(self) -> int:
        """The HTTP status under its name in confluent-kafka's ``SchemaRegistryError``."""
        return int(self.facts.get("http_status_code", self.http_status))

    @http_status_code.setter
    def http_status_code(self, value: int) -> None:
        self.facts["http_status_code"] = value

    @property
    def error_message(self) -> str:
        """The message under its name in confluent-kafka's ``SchemaRegistryError``."""
        return self.message

    @error_message.setter
    def error_message(self, value: str) -> None:
        self.message = value

    @classmethod
    def of(cls, code: int, message: str) -> RegistryError:
        """Create the exception for an error body; unknown codes map to the class of their HTTP status."""
        status = int(str(code)[:_HTTP_STATUS_DIGITS])
        error_class = (
            cls._by_code.get(code) or cls._by_code.get(status) or (ServerError if status >= ServerError.code else None)
        )
        kind = error_class or BadRequest
        return kind(message) if kind.code == code else kind(message, error_code=code)

    @classmethod
    def catalogue(cls) -> dict[int, type[Self]]:
        """Return the exception class of each wire code."""
        return dict(sorted(cls._by_code.items()))  # type: ignore[arg-type]


class BadRequest(RegistryError):
    """The request cannot be parsed."""

    code = 400


class Unauthorized(RegistryError):
    """The credentials are missing or not valid."""

    code = 401
    template = "Unauthorized"


class Forbidden(RegistryError):
    """The caller is not permitted to do this."""

    code = 403
    template = "Forbidden"


class NotFound(RegistryError):
    """The resource named by the path does not exist."""

    code = 404
    template = "HTTP 404 Not Found"


class MethodNotAllowed(RegistryError):
    """The path exists, but does not support this method."""

    code = 405
    template = "HTTP 405 Method Not Allowed"


class NotAcceptable(RegistryError):
    """For clients only: this service does not negotiate the content type by ``Accept``."""

    code = 406
    template = "HTTP 406 Not Acceptable"


class RequestTimeout(RegistryError):
    """The request was not received completely in time."""

    code = 408
    template = "The request was not received completely within {seconds:g} seconds; send it again"


class Conflict(RegistryError):
    """The request conflicts with the stored state."""

    code = 409


class PayloadTooLarge(RegistryError):
    """The request body is over the size limit."""

    code = 413
    template = "The request body is larger than {limit} bytes; send a smaller schema, or split it using references"


class UnsupportedMediaType(RegistryError):
    """The content type of the body is not JSON."""

    code = 415
    template = "HTTP 415 Unsupported Media Type: send JSON, with the header Content-Type: application/json"


class HeadersTooLarge(RegistryError):
    """The request line and headers are over the size limit."""

    code = 431
    template = "The request line and headers exceed {limit} bytes"


class TooManyFailures(RegistryError):
    """Too many wrong passwords came from this address; the current one was not checked."""

    code = 42980
    template = "Too many wrong passwords came from this address; try again in {seconds} seconds"


class Unprocessable(RegistryError):
    """The request can be parsed, but is not valid."""

    code = 422


class ServerError(RegistryError):
    """An internal error of the service; not caused by the request alone."""

    code = 500
    template = "Internal Server Error"


class Overloaded(RegistryError):
    """Too many requests of a kind wait: writes, large responses, passwords or imports; nothing was done."""

    code = 503
    template = "Too many writes are waiting; try again later"


class SubjectNotFound(NotFound):
    """The subject has no live version."""

    code = 40401
    template = "Subject '{subject}' not found."


class VersionNotFound(NotFound):
    """The subject has no such live version."""

    code = 40402
    template = "Version {version} not found."


class SchemaNotFound(NotFound):
    """No schema has this id or guid."""

    code = 40403
    template = "Schema {schema} not found"


class SchemaNotUnderSubject(SchemaNotFound):
    """The subject exists, but has no such schema."""

    template = "Schema not found"


class SubjectSoftDeleted(NotFound):
    """The subject is already soft-deleted."""

    code = 40404
    template = "Subject '{subject}' was soft deleted.Set permanent=true to delete permanently"


class SubjectNotSoftDeleted(NotFound):
    """The subject must be soft-deleted before it is hard-deleted."""

    code = 40405
    template = "Subject '{subject}' was not deleted first before being permanently deleted"


class VersionSoftDeleted(NotFound):
    """The version is already soft-deleted."""

    code = 40406
    template = "Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"


class VersionNotSoftDeleted(NotFound):
    """The version must be soft-deleted before it is hard-deleted."""

    code = 40407
    template = "Subject '{subject}' Version {version} was not deleted first before being permanently deleted"


class LevelNotConfigured(NotFound):
    """The subject has no compatibility level of its own."""

    code = 40408
    template = "Subject '{subject}' does not have subject-level compatibility configured"


class ModeNotConfigured(NotFound):
    """The subject has no mode of its own."""

    code = 40409
    template = "Subject '{subject}' does not have subject-level mode configured"


class AssociationNotFound(NotFound):
    """The resource has no association."""

    code = 40410
    template = "Association for '{resource}' not found."


class KeyNotFound(NotFound):
    """The encryption key does not exist."""

    code = 40470
    template = "Key '{key}' not found"


class KeyNotSoftDeleted(NotFound):
    """The key must be soft-deleted before it is hard-deleted."""

    code = 40471
    template = "Key '{key}' was not deleted first before being permanently deleted"


class KeySoftDeleted(NotFound):
    """The encryption key is soft-deleted."""

    code = 40472
    template = "Key '{key}' must be undeleted first"


class Denied(Forbidden):
    """The authenticated caller lacks the permission for this operation on the subject."""

    code = 40301
    template = "User is denied operation {operation} on Subject: {subject}"


class KeyDenied(Denied):
    """The authenticated caller lacks the permission for this operation on the encryption key."""

    template = "User is denied operation {operation} on Key: {subject}"


class KeyGenerationRefused(Forbidden):
    """The key management service refused to create a key."""

    code = 40370


class CrossSiteRequest(Forbidden):
    """A browser sent a state-changing request on behalf of a web page of another origin."""

    code = 40380
    template = "Cross-site request rejected: {detail}"


class HostNotAllowed(Forbidden):
    """The name in the ``Host`` header is not one of this registry's allowed hosts."""

    code = 40381
    template = (
        "The host `{host}` is not allowed. To allow it, set CONTRACTLOG_ALLOWED_HOSTS to all names of the registry, "
        "including `{name}`"
    )


class ProtectedSubject(Forbidden):
    """The subject is protected: this change needs an approved change request, a waiver or break-glass."""

    code = 40382
    template = (
        "{subject} is protected: {action} needs {approvals} by its owners ({owners}){denied}. "
        "Open a change request: {command}"
    )


class ApprovalDenied(Forbidden):
    """The caller may not approve, change or close this change request."""

    code = 40383
    template = "Change request {id}: {detail}"


class IncompatibleSchema(Conflict):
    """The compatibility level of the subject rejects this schema; ``verdict`` has the reasons."""

    code = 40901
    template = (
        'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: {details}'
    )


class TooManyAssociations(Conflict):
    """Defined by Confluent Schema Registry, never raised."""

    code = 40902
    template = "A maximum of {limit} associations already exist"


class AssociationTypeExists(Conflict):
    """The resource already has an association of this type."""

    code = 40903
    template = "An association of type '{type}' already exists for resource '{resource}'"


class AssociationExists(Conflict):
    """The subject is already associated with a resource."""

    code = 40904
    template = "An association already exists for subject '{subject}'"


class StrongAssociationExists(Conflict):
    """The subject belongs exclusively to one resource."""

    code = 40905
    template = "A strong association already exists for subject '{subject}'"


class NoActiveVersion(Conflict):
    """An association needs a subject with a live version."""

    code = 40907
    template = "No active (non-deleted) version exists for subject '{subject}'"


class AssociationFrozen(Conflict):
    """A frozen association is deleted only together with its subject."""

    code = 40908
    template = "The association of type  '{type}' is frozen for subject '{subject}'"


class KeyExists(Conflict):
    """A key with this name already exists."""

    code = 40971
    template = "Key '{key}' already exists; use a different value"


class TooManyKeys(Conflict):
    """The maximum number of keys is reached."""

    code = 40972
    template = "A maximum of {limit} keys already exist"


class InvalidSchema(Unprocessable):
    """The schema is not valid or may not be registered; ``at`` is a JSON Pointer to the error, if known."""

    code = 42201


class InvalidVersion(Unprocessable):
    """The version is not a valid version number."""

    code = 42202
    template = (
        "The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )


class InvalidLevel(Unprocessable):
    """The compatibility level is not valid."""

    code = 42203
    template = (
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive"
    )


class InvalidMode(Unprocessable):
    """The mode is not valid."""

    code = 42204
    template = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."


class OperationNotPermitted(Unprocessable):
    """The effective mode, or a protection, forbids this operation."""

    code = 42205


class SubjectReadOnly(OperationNotPermitted):
    """The effective mode of the subject is READONLY."""

    template = "Subject {subject} in context {context} is in read-only mode"


class SubjectNotInImport(OperationNotPermitted):
    """The request has an id, but the effective mode of the subject is not IMPORT."""

    template = "Subject {subject} in context {context} is not in import mode"


class SubjectNotReadWrite(OperationNotPermitted):
    """The request has no id, and the effective mode of the subject is not READWRITE."""

    template = "Subject {subject} in context {context} is not in read-write mode"


class ModesFrozen(OperationNotPermitted):
    """The server's settings forbid mode changes."""

    template = "Mode changes are not allowed"


class SubjectsExist(OperationNotPermitted):
    """Mode IMPORT requires that no live subjects exist, unless it is forced."""

    template = "Cannot import since found existing subjects"


class OverwriteNotPermitted(OperationNotPermitted):
    """The id already belongs to different content."""

    template = "Overwrite new schema with id {id} in context {context} is not permitted."


class RetiredIdTaken(OverwriteNotPermitted):
    """The id was hard-deleted and belonged to different content."""

    template = (
        "Overwrite new schema with id {id} in context {context} is not permitted. The id was hard-deleted, and "
        "belonged to another schema: {way_out}"
    )

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        super().__init__(message, **{"way_out": way_out(str(facts.get("context")))} | facts)


def way_out(context: str) -> str:
    """Explain the options for repeating a migration under hard-deleted ids."""
    name = quote_word(context)
    return (
        "import it into another context; or, where no record carries an id of this one, forget it: "
        f"contractlog db forget-context {name} --confirm {name}"
    )


class IdGapNotPermitted(OperationNotPermitted):
    """The requested id is far above all ids of its context."""

    template = (
        "The id {id} is more than {gap:,} above {highest}, the highest id of context {context}, and new ids would "
        "continue from there. Use a lower id; if the gap is intended, the operator of the registry sets "
        "CONTRACTLOG_ALLOW_ID_GAP=true."
    )


class StrongReference(OperationNotPermitted):
    """The subject belongs to a resource, so no schema may reference it."""

    template = "Subject '{subject}' has a strong association and cannot be referenced"


class ReferenceExists(Unprocessable):
    """Another schema references this version."""

    code = 42206
    template = (
        "One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},version={version}}}."
    )


class SchemaIdMismatch(Unprocessable):
    """For clients only: raised by releases 5.2 to 7.1 of Confluent Schema Registry."""

    code = 42207


class InvalidSubject(Unprocessable):
    """The subject name is empty, reserved, ambiguous or too long, or has characters that cannot be stored."""

    code = 42208
    template = "The specified subject '{subject}' is not a valid."


class SchemaTooLarge(Unprocessable):
    """The record to be stored is over the size limit."""

    code = 42209
    template = "Register operation failed because schema is too large"


class InvalidRuleSet(Unprocessable):
    """The rule set is not structurally valid, or an expression does not fit the schema."""

    code = 42210


class ContextNotEmpty(Unprocessable):
    """The context still has versions, live or soft-deleted, so it cannot be deleted."""

    code = 42211
    template = "The specified context '{context}' is not empty."


class InvalidAssociation(Unprocessable):
    """A property of an association is not valid."""

    code = 42212
    template = "The association specified an invalid value for property: '{property}', detail: {detail}"


class InvalidKeyField(Unprocessable):
    """A field of a key is not valid or is missing."""

    code = 42271
    template = "Invalid or missing value for field '{field}' of key"


class KeyReferenced(Unprocessable):
    """Other keys reference this key."""

    code = 42272
    template = "One or more references exist to the key '{key}'"


class InvalidConformance(Unprocessable):
    """The audit result is inconsistent or lacks a member."""

    code = 42280
    template = "The audit result is not valid: {detail}"


class InvalidQuery(Unprocessable):
    """A parameter of an endpoint under ``/contractlog/v1`` is missing or not valid."""

    code = 42281
    template = "The parameter '{parameter}' is not valid: {detail}"


class TooManyMembers(Unprocessable):
    """A batch request has too many members."""

    code = 42282
    template = "The request has {count} members; at most {maximum} are allowed in one request."


class InvalidLineage(Unprocessable):
    """The lineage is not a valid OpenLineage event, or exceeds a limit on events."""

    code = 42283
    template = "The lineage event is not valid: {detail}"


class TooManyEdges(Unprocessable):
    """A dataset would have too many lineage edges."""

    code = 42284
    template = (
        "{target} would have {count} lineage edges; at most {maximum} are allowed. "
        "Publish edges between topics instead of fields, or withdraw those of other origins."
    )


class InvalidChangeRequest(Unprocessable):
    """The change request, or a part of it, is not valid, or there are too many."""

    code = 42285
    template = "The change request is not valid: {detail}"


class InvalidContract(Unprocessable):
    """The data contract is not valid, its status may not change in this way, or a limit is reached."""

    code = 42286
    template = "The contract is not valid: {detail}"


class WorkLimitExceeded(Unprocessable):
    """The request needs more steps of work, for parsing and comparing schemas, than one request may use."""

    template = "The request needs more than {limit} steps of work; send fewer or smaller schemas in one request."


class TooManyRequests(RegistryError):
    """The caller has used up its quota of work; the request can be retried later."""

    code = 429
    template = "You have used {limit} steps of work within a minute; try again in {seconds} seconds."


class ChangesAhead(Conflict):
    """The change log ends before the requested change, because the database was restored from a backup."""

    code = 40980
    template = "The change log ends at {head}; change {since} does not exist. The database may have been restored."


class ImportRefused(Conflict):
    """The import conflicts with existing data; nothing was written."""

    code = 40981
    template = "The import conflicts with existing data; conflicts: {count}; nothing was written"


class ChangeRequestMoved(Conflict):
    """The subject, its settings or the change request are no longer what was approved."""

    code = 40982
    template = "Change request {id}: {detail}"


class ChangeRequestEnded(Conflict):
    """The change request is merged, closed or expired."""

    code = 40983
    template = "Change request {id} is {status}; open another one."


class ApprovalsMissing(Conflict):
    """The change request does not have the approvals that the change needs."""

    code = 40984
    template = "Change request {id} needs {detail}."


class ContractMoved(Conflict):
    """The newest version of the contract is not the expected one."""

    code = 40985
    template = (
        "The newest version of the contract of topic '{topic}' is {version}, not {expected}: fetch it, and make your "
        "change there."
    )


class ContractMismatch(Conflict):
    """The contract does not fit the newest version of the topic's subject."""

    code = 40986
    template = "The contract does not match the topic: {detail}"


class ContractNotFound(NotFound):
    """The topic has no data contract, or no such version of it."""

    code = 40482
    template = "Topic '{topic}' has no {contract}."


class ChangeRequestNotFound(NotFound):
    """There is no change request with this number."""

    code = 40481
    template = "Change request {id} not found."


class ConformanceNotFound(NotFound):
    """No audit result of this topic was published."""

    code = 40480
    template = "No audit result of topic '{topic}' was published."


class StoreError(ServerError):
    """The database failed; nothing was written."""

    code = 50001
    template = "Error in the backend data store -- {detail}"


class StoreTimeout(ServerError):
    """The database timed out; the write may have been committed."""

    code = 50002
    template = "Error in the backend data store -- operation timed out"


class ForwardingFailed(ServerError):
    """For clients only: this service does not forward requests."""

    code = 50003


class LeaderUnknown(ServerError):
    """For clients only: this service has no leader."""

    code = 50004


class UnreadableResponse(ServerError):
    """Raised by clients: the response is not valid JSON of this API."""

    code = 50005


class KeyGenerationFailed(ServerError):
    """The key management service failed."""

    code = 50070
    template = "{detail}"
