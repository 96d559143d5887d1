"""Who sends a request: bearer tokens, and impersonation by those who may."""

import secrets
from collections.abc import Mapping, Sequence

from aim_rehearsal.apiserver.authorization import MASTERS, Action, Authorizer
from aim_rehearsal.apiserver.call import User
from aim_rehearsal.apiserver.errors import ApiError, unauthorized
from aim_rehearsal.apiserver.messages import Request

ADMIN = "admin"
_AUTHENTICATED = "system:authenticated"
_ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


class Authenticator:
    """Knows the identities of one server and their random tokens.

    Args:
        identities: the groups of each identity, by its name; ``admin`` in ``system:masters`` is always there.
    """

    def __init__(self, identities: Mapping[str, Sequence[str]]) -> None:
        groups = {**identities, ADMIN: (MASTERS, *(item for item in identities.get(ADMIN, ()) if item != MASTERS))}
        self._tokens = {name: secrets.token_urlsafe(32) for name in groups}
        self._users = {
            self._tokens[name]: User(name, (*dict.fromkeys((*listed, _AUTHENTICATED)),), uid=name)
            for name, listed in groups.items()
        }

    def token(self, identity: str) -> str:
        """Return the bearer token of an identity.

        Raises:
            KeyError: the server has no such identity.
        """
        return self._tokens[identity]

    def user_of(self, request: Request) -> User:
        """Return who sends a request; without a token that is nobody in particular.

        Raises:
            ApiError: the token is not one of this server.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return _ANONYMOUS
        user = self._users.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user


def impersonated(request: Request, user: User, authorizer: Authorizer) -> User | None:
    """Return whom a request wants to act as, or None.

    Raises:
        ApiError: the user may not act as that, or the headers make no sense.
    """
    name = request.headers.get("impersonate-user", "")
    listed = [item.strip() for item in request.headers.get("impersonate-group", "").split(",") if item.strip()]
    if not name:
        if listed or "impersonate-uid" in request.headers:
            raise ApiError(500, "InternalError", "requested impersonation without impersonating a user", {})
        return None
    authorizer.check(user, _user_action(name))
    for group in listed:
        authorizer.check(user, Action("impersonate", "", "groups", name=group))
    if not listed and name.startswith("system:serviceaccount:"):
        namespace = name.split(":")[2]
        listed = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    groups = (*dict.fromkeys((*listed, _AUTHENTICATED)),)
    return User(name, groups, uid=request.headers.get("impersonate-uid", ""))


def _user_action(name: str) -> Action:
    parts = name.split(":")
    if len(parts) == 4 and name.startswith("system:serviceaccount:"):
        return Action("impersonate", "", "serviceaccounts", namespace=parts[2], name=parts[3])
    return Action("impersonate", "", "users", name=name)
