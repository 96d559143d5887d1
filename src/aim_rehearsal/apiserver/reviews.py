"""Questions about oneself: access reviews, rules reviews, who am I."""

from aim_api.tree import Json, JsonObject, get_map, get_str
from aim_rehearsal.apiserver.authorization import Action, Authorizer
from aim_rehearsal.apiserver.call import Call, write_options
from aim_rehearsal.apiserver.errors import bad_request, invalid
from aim_rehearsal.apiserver.intake import take_in
from aim_rehearsal.apiserver.managed_fields import FieldTracker
from aim_rehearsal.apiserver.messages import Response, encode_sorted, json_response
from aim_rehearsal.apiserver.times import now, rfc3339
from aim_schema import FieldError

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
            asked = {**asked, "spec": {}}
        case _:
            status = _access(authorizer, call, get_map(asked, "spec"))
    if call.resource.kind == "SelfSubjectReview":
        asked = {**asked, "metadata": {**get_map(asked, "metadata"), "creationTimestamp": rfc3339(now())}}
    elif call.resource.kind == "SelfSubjectAccessReview":
        asked = FieldTracker(call.resource, call.version, "").updated(None, asked, options.field_manager, now())
    return json_response(201, {**asked, "status": status})


def _access(authorizer: Authorizer, call: Call, spec: JsonObject) -> JsonObject:
    resource, path = get_map(spec, "resourceAttributes"), get_map(spec, "nonResourceAttributes")
    if not resource and not path:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        problem = FieldError("FieldValueInvalid", "spec.resourceAttributes", f"Invalid value: null: {why}")
        raise invalid("authorization.k8s.io", "", "", [problem])
    if resource and path:
        shown = encode_sorted({"Path": get_str(path, "path") or "", "Verb": get_str(path, "verb") or ""}).decode()
        why = f"Invalid value: {shown}: cannot be specified in combination with resourceAttributes"
        raise invalid(
            "authorization.k8s.io", "", "", [FieldError("FieldValueInvalid", "spec.nonResourceAttributes", why)]
        )
    if resource:
        keys = ("verb", "group", "resource", "subresource", "namespace", "name")
        action = Action(*(get_str(resource, key) or "" for key in keys))
    else:
        action = Action(get_str(path, "verb") or "", path=get_str(path, "path") or "")
    reason = authorizer.why(call.user, action)
    status: JsonObject = {"allowed": reason is not None}
    if reason is None and (missing := authorizer.missing_roles(call.user, action.namespace)):
        reason = f"RBAC: {missing}"
    if reason:
        status["reason"] = reason
    return status


def _rules(authorizer: Authorizer, call: Call, namespace: str) -> JsonObject:
    if not namespace:
        raise bad_request("no namespace on request")
    rules = [rule for _, rule in authorizer.rules(call.user, namespace)]
    of_resources: list[Json] = [rule for rule in rules if "resources" in rule]
    of_paths: list[Json] = [rule for rule in rules if "nonResourceURLs" in rule]
    status: JsonObject = {"resourceRules": of_resources, "nonResourceRules": of_paths, "incomplete": False}
    missing = authorizer.missing_roles(call.user, namespace)
    return {**status, "evaluationError": missing} if missing else status


def _user_info(call: Call) -> JsonObject:
    info: JsonObject = {"username": call.user.name, "groups": [*call.user.groups]}
    if call.user.uid:
        info["uid"] = call.user.uid
    return info
