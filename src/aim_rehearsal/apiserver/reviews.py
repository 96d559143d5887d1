"""Questions about oneself: access reviews, rules reviews, who am I."""

from aim_api.tree import Json, JsonObject, get_map, get_str
from aim_rehearsal.apiserver.authorization import Action, Authorizer
from aim_rehearsal.apiserver.call import Call, write_options
from aim_rehearsal.apiserver.errors import invalid
from aim_rehearsal.apiserver.intake import take_in
from aim_rehearsal.apiserver.managed_fields import FieldTracker
from aim_rehearsal.apiserver.messages import Response, json_response
from aim_rehearsal.apiserver.structural import FieldError
from aim_rehearsal.apiserver.times import now, rfc3339

REVIEW_KINDS = frozenset({"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview"})


def review(authorizer: Authorizer, call: Call) -> Response:
    """Answer a POST of a review with its status filled in; nothing is stored.

    Raises:
        ApiError: the review asks for nothing, or for two things at once.
    """
    options = write_options(call, "CreateOptions")
    asked = take_in(call, options.field_validation)
    match call.resource.kind:
        case "SelfSubjectReview":
            status: JsonObject = {"userInfo": _user_info(call)}
        case "SelfSubjectRulesReview":
            status = _rules(authorizer, call, get_str(asked, "spec", "namespace") or "")
        case _:
            status = _access(authorizer, call, get_map(asked, "spec"))
    if call.resource.kind == "SelfSubjectReview":
        asked = {**asked, "metadata": {**get_map(asked, "metadata"), "creationTimestamp": rfc3339(now())}}
    else:
        asked = FieldTracker(call.resource, call.version, "").updated(None, asked, options.field_manager, now())
    return json_response(201, {**asked, "status": status})


def _access(authorizer: Authorizer, call: Call, spec: JsonObject) -> JsonObject:
    resource, path = get_map(spec, "resourceAttributes"), get_map(spec, "nonResourceAttributes")
    if bool(resource) == bool(path):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        problem = FieldError("FieldValueInvalid", "spec.resourceAttributes", f"Invalid value: null: {why}")
        raise invalid("authorization.k8s.io", "", "", [problem])
    if resource:
        keys = ("verb", "group", "resource", "subresource", "namespace", "name")
        action = Action(*(get_str(resource, key) or "" for key in keys))
    else:
        action = Action(get_str(path, "verb") or "", path=get_str(path, "path") or "")
    reason = authorizer.why(call.user, action)
    status: JsonObject = {"allowed": reason is not None}
    if reason:
        status["reason"] = reason
    return status


def _rules(authorizer: Authorizer, call: Call, namespace: str) -> JsonObject:
    rules = [rule for _, rule in authorizer.rules(call.user, namespace)]
    of_resources: list[Json] = [rule for rule in rules if "resources" in rule]
    of_paths: list[Json] = [rule for rule in rules if "nonResourceURLs" in rule]
    return {"resourceRules": of_resources, "nonResourceRules": of_paths, "incomplete": False}


def _user_info(call: Call) -> JsonObject:
    info: JsonObject = {"username": call.user.name, "groups": [*call.user.groups]}
    if call.user.uid:
        info["uid"] = call.user.uid
    return info
