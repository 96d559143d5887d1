"""The ``finalize`` subresource of namespaces, through which their last finalizers go."""

from aim_api.tree import JsonObject, get_map
from aim_rehearsal.apiserver.call import Call, write_options
from aim_rehearsal.apiserver.errors import method_not_allowed
from aim_rehearsal.apiserver.intake import take_in
from aim_rehearsal.apiserver.messages import Response, json_response
from aim_rehearsal.apiserver.reading import rendering_of
from aim_rehearsal.apiserver.writing import Writer


def finalize_namespace(writer: Writer, call: Call) -> Response:
    """Answer a PUT of ``/finalize``: only the spec's finalizers are taken from the body.

    Raises:
        ApiError: another verb, or the namespace is refused.
    """
    if call.info.verb != "update":
        raise method_not_allowed("", "namespaces", call.info.verb)
    options = write_options(call, "UpdateOptions")
    body = take_in(call, options.field_validation)

    def change(current: JsonObject) -> JsonObject:
        return {**current, "spec": get_map(body, "spec")}

    return json_response(200, rendering_of(call).one(writer.change(call, change, options)))
