"""RBAC: whether a user may do something, judged by the stored Roles and bindings; and the roles that exist at start.

Source: Kubernetes documentation, "Using RBAC Authorization".
"""

from collections.abc import Iterator
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, get_list, get_objects, get_str
from aim_rehearsal.apiserver.call import User
from aim_rehearsal.apiserver.errors import ApiError, forbidden, quoted
from aim_rehearsal.apiserver.store import Store

MASTERS = "system:masters"
RBAC_GROUP = "rbac.authorization.k8s.io"
_API_VERSION = f"{RBAC_GROUP}/v1"
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Action:
    """What somebody wants to do.

    Attributes:
        verb: the verb, ``get`` or ``create`` for instance.
        group: the API group of the resource.
        resource: the plural; empty for paths that are no resources.
        subresource: for example ``status``.
        namespace: the namespace, empty for cluster scope.
        name: the object's name, or empty.
        path: the path, where no resource is meant.
    """

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        """The resource with its subresource, as rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Judges actions by the roles in one store."""

    store: Store

    def why(self, user: User, action: Action) -> str | None:
        """Return the reason why a user may do something (it may be empty), or None if the user may not."""
        if MASTERS in user.groups:
            return ""
        for reason, rule in self.rules(user, action.namespace):
            if _covers(rule, action):
                return reason
        return None

    def missing_roles(self, user: User, namespace: str) -> str:
        """Return which roles a user is bound to that are not there, in the server's words; empty where none is."""
        problems = [
            f"{kind.lower()}.{RBAC_GROUP} {quoted(name)} not found"
            for _, _, kind, name, role in self._bound(user, namespace)
            if role is None
        ]
        return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]" if problems else ""

    def rules(self, user: User, namespace: str) -> Iterator[tuple[str, JsonObject]]:
        """Yield every rule that holds for a user in a namespace, with where it comes from."""
        for reason, who, kind, name, role in self._bound(user, namespace):
            for rule in get_objects(role or {}, "rules"):
                yield f"{reason} of {kind} {quoted(name)} to {who}", rule

    def check(self, user: User, action: Action) -> None:
        """Do nothing if a user may do something.

        Raises:
            ApiError: the user may not.
        """
        if self.why(user, action) is None:
            raise _refusal(user, action, self.missing_roles(user, action.namespace))

    def _bound(self, user: User, namespace: str) -> Iterator[tuple[str, str, str, str, JsonObject | None]]:
        """Yield binding, subject, kind, name and content of every role that a user is bound to in a namespace."""
        for _, binding in self.store.scan(f"clusterrolebindings.{RBAC_GROUP}"):
            yield from self._binding(user, binding, "", "ClusterRoleBinding")
        if namespace:
            for _, binding in self.store.scan(f"rolebindings.{RBAC_GROUP}", namespace):
                yield from self._binding(user, binding, namespace, "RoleBinding")

    def _binding(
        self, user: User, binding: JsonObject, namespace: str, kind: str
    ) -> Iterator[tuple[str, str, str, str, JsonObject | None]]:
        subject = next((item for item in get_objects(binding, "subjects") if _is_subject(user, item, namespace)), None)
        if subject is None:
            return
        role_kind, role_name = get_str(binding, "roleRef", "kind") or "", get_str(binding, "roleRef", "name") or ""
        if role_kind == "Role":
            role = self.store.get(f"roles.{RBAC_GROUP}", namespace, role_name)
        else:
            role = self.store.get(f"clusterroles.{RBAC_GROUP}", "", role_name)
        name = get_str(binding, "metadata", "name") or ""
        where = f"{name}/{namespace}" if namespace else name
        who = f"{get_str(subject, 'kind')} {quoted(_subject_name(subject))}"
        yield f"RBAC: allowed by {kind} {quoted(where)}", who, role_kind, role_name, role


def _is_subject(user: User, subject: JsonObject, namespace: str) -> bool:
    name = get_str(subject, "name") or ""
    match get_str(subject, "kind"):
        case "User":
            return name == user.name
        case "Group":
            return name in user.groups
        case "ServiceAccount":
            home = get_str(subject, "namespace") or namespace
            return user.name == f"system:serviceaccount:{home}:{name}"
        case _:
            return False


def _subject_name(subject: JsonObject) -> str:
    name, namespace = get_str(subject, "name") or "", get_str(subject, "namespace")
    return f"{name}/{namespace}" if namespace else name


def _covers(rule: JsonObject, action: Action) -> bool:
    if not _lists(rule, "verbs", action.verb):
        return False
    if not action.resource:
        return any(_path_matches(str(pattern), action.path) for pattern in get_list(rule, "nonResourceURLs"))
    names = get_list(rule, "resourceNames")
    return (
        _lists(rule, "apiGroups", action.group)
        and (_lists(rule, "resources", action.full_resource) or _any_with_subresource(rule, action))
        and (not names or action.name in names)
    )


def _lists(rule: JsonObject, key: str, wanted: str) -> bool:
    values = get_list(rule, key)
    return wanted in values or _ANY in values


def _any_with_subresource(rule: JsonObject, action: Action) -> bool:
    return bool(action.subresource) and f"*/{action.subresource}" in get_list(rule, "resources")


def _path_matches(pattern: str, path: str) -> bool:
    return pattern in (_ANY, path) or (pattern.endswith(_ANY) and path.startswith(pattern[:-1]))


def _refusal(user: User, action: Action, missing: str) -> ApiError:
    because = f": RBAC: {missing}" if missing else ""
    if not action.resource:
        why = f"User {quoted(user.name)} cannot {action.verb} path {quoted(action.path)}{because}"
        return ApiError(403, "Forbidden", f"forbidden: {why}", {})
    scope = f"in the namespace {quoted(action.namespace)}" if action.namespace else "at the cluster scope"
    why = (
        f"User {quoted(user.name)} cannot {action.verb} resource {quoted(action.full_resource)} in API group "
        f"{quoted(action.group)} {scope}{because}"
    )
    return forbidden(action.group, action.resource, action.name, why)


def _role(name: str, rules: list[Json]) -> JsonObject:
    return {
        "apiVersion": _API_VERSION,
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
        "rules": rules,
    }


def _binding(name: str, groups: tuple[str, ...]) -> JsonObject:
    subjects: list[Json] = [{"apiGroup": RBAC_GROUP, "kind": "Group", "name": group} for group in groups]
    return {
        "apiVersion": _API_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": name},
        "subjects": subjects,
    }


def initial_roles() -> list[JsonObject]:
    """Return the roles and bindings that every cluster has: administration, discovery, questions about oneself."""
    public: list[Json] = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
    discovery: list[Json] = [*public, "/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"]
    own_access: list[Json] = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
    authenticated, anybody = ("system:authenticated",), ("system:authenticated", "system:unauthenticated")
    everything: list[Json] = [
        {"apiGroups": [_ANY], "resources": [_ANY], "verbs": [_ANY]},
        {"nonResourceURLs": [_ANY], "verbs": [_ANY]},
    ]
    return [
        _role("cluster-admin", everything),
        _binding("cluster-admin", (MASTERS,)),
        _role("system:discovery", [{"nonResourceURLs": discovery, "verbs": ["get"]}]),
        _binding("system:discovery", authenticated),
        _role("system:public-info-viewer", [{"nonResourceURLs": public, "verbs": ["get"]}]),
        _binding("system:public-info-viewer", anybody),
        _role(
            "system:basic-user",
            [
                {"apiGroups": ["authorization.k8s.io"], "resources": own_access, "verbs": ["create"]},
                {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]},
            ],
        ),
        _binding("system:basic-user", authenticated),
    ]
