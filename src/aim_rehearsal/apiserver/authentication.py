"""Who sends a request: bearer tokens, and impersonation by those who may."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from aim_rehearsal.apiserver.authorization import MASTERS, Action, Authorizer
from aim_rehearsal.apiserver.call import User
from aim_rehearsal.apiserver.errors import bad_request, quoted, unauthorized
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
        if scheme.lower() != "bearer" or not token.strip():
            return _ANONYMOUS
        user = self._users.get(token.strip())
        if user is None:
            raise unauthorized()
        return user


def impersonated(request: Request, user: User, action: Action, authorizer: Authorizer) -> User | None:
    """Return whom a request wants to act as, or None.

    Raises:
        ApiError: the user may not act as that, or the headers make no sense.
    """
    name = request.headers.get("impersonate-user", "")
    listed = [item.strip() for item in request.headers.get("impersonate-group", "").split(",") if item.strip()]
    uid = request.headers.get("impersonate-uid", "")
    if not name:
        if listed or uid:
            shown = "[]string{" + ", ".join(quoted(group) for group in listed) + "}" if listed else "[]string(nil)"
            wanted = f'Name:"", UID:{quoted(uid)}, Groups:{shown}, Extra:map[string][]string(nil)'
            raise bad_request(f"requested &user.DefaultInfo{{{wanted}}} without impersonating a user name")
        return None
    for needed in (_user_action(name), *(Action("impersonate", "", "groups", name=group) for group in listed)):
        if authorizer.why(user, needed) is None:
            # The real server asks last for the narrower permission of constrained impersonation, and names that.
            authorizer.check(user, replace(action, verb=f"impersonate-on:user-info:{action.verb}"))
    if not listed and name.startswith("system:serviceaccount:"):
        namespace = name.split(":")[2]
        listed = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    groups = (*dict.fromkeys((*listed, _AUTHENTICATED)),)
    return User(name, groups, uid=uid)


def _user_action(name: str) -> Action:
    parts = name.split(":")
    if len(parts) == 4 and name.startswith("system:serviceaccount:"):
        return Action("impersonate", "", "serviceaccounts", namespace=parts[2], name=parts[3])
    return Action("impersonate", "", "users", name=name)
