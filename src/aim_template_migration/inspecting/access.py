"""Which of the tool's requests the identity may make, asked of the API server itself (shell).

Every row of the table of permissions is asked by a SelfSubjectAccessReview, which stores nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aim_api.kinds import NAMESPACE
from aim_template_migration.inspecting.reading import side_by_side
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import ApiStatusError, Unauthorized
from aim_template_migration.kube.permissions import (
    OPERATOR,
    PERMISSIONS,
    OperatorPlace,
    Permission,
    operator_permission,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One request that a command would make.

    Attributes:
        row: the row of the table.
        namespace: where, None outside namespaces.
        name: the only object, None for any.
    """

    row: Permission
    namespace: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        """Return the permission in the words of RBAC."""
        resource = f"{self.row.kind.plural}.{self.row.kind.group}" if self.row.kind.group else self.row.kind.plural
        name = f" {self.name}" if self.name else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.row.verb} {resource}{name}{where}"


@dataclass(frozen=True, slots=True)
class Access:
    """What the identity may do.

    Attributes:
        asked: how many questions were answered.
        denied: what it may not do, in the order of the table.
        unanswered: why nothing could be asked, empty where it could.
    """

    asked: int
    denied: tuple[Question, ...]
    unanswered: str = ""

    def lacks(self, role: str, *, optional: bool = False) -> tuple[Question, ...]:
        """Return what is denied of one role's own rows."""
        return tuple(item for item in self.denied if item.row.role == role and item.row.optional is optional)

    def may_read(self, namespace: str) -> bool:
        """Return whether everything that planning lists in a namespace may be listed there."""
        return not any(item.namespace == namespace and item.row.verb == "list" for item in self.lacks("read"))


def questions(namespaces: Iterable[str], operator: OperatorPlace = OPERATOR) -> Iterator[Question]:
    """Yield every question for the selected namespaces and the place of the operator (pure)."""
    chosen = tuple(namespaces)
    for row in (*PERMISSIONS, operator_permission(operator)):
        if row.namespace:
            places: tuple[str | None, ...] = (row.namespace,)
        else:
            places = chosen if row.kind.namespaced else (None,)
        names: tuple[str | None, ...] = row.names or (None,)
        yield from (Question(row, place, name) for place in places for name in names)
    selected = Permission(NAMESPACE, "get", "read")
    yield from (Question(selected, None, name) for name in chosen)


def ask(cluster: Cluster, namespaces: Sequence[str], operator: OperatorPlace = OPERATOR) -> Access:
    """Ask every question.

    Raises:
        Unauthorized: the credentials are not accepted.
        RequestError: the server can't be reached.
    """
    asked = tuple(questions(namespaces, operator))

    def allowed(question: Question) -> bool:
        row = question.row
        return cluster.access_review(row.verb, row.kind, question.namespace, name=question.name)

    try:
        answers = side_by_side(allowed, asked)
    except Unauthorized:
        raise
    except ApiStatusError as error:
        return Access(0, (), f"access can't be reviewed: {error}")
    denied = tuple(question for question, answer in zip(asked, answers, strict=True) if not answer)
    return Access(len(asked), denied)
