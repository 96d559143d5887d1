"""Structures of Kubernetes itself and of the Gateway API, as far as AIM objects contain them."""

from tools.crds.schema import (
    Schema,
    Shared,
    array,
    boolean,
    date_time,
    integer,
    mapping,
    obj,
    quantity,
    string,
)

_OBJECT_NAME = string("Name of the object.", default="")
_OPTIONAL = boolean("Whether the object or its key may be absent.")


def _key_of(what: str) -> Schema:
    return obj(
        {"key": string(f"Key in the {what}."), "name": _OBJECT_NAME, "optional": _OPTIONAL},
        f"A key of a {what} in the same namespace.",
        required=["key"],
        atomic=True,
    )


ENV_VAR = Shared(
    "envVar",
    obj(
        {
            "name": string("Name of the environment variable."),
            "value": string("Literal value; $(NAME) refers to variables defined before."),
            "valueFrom": obj(
                {
                    "configMapKeyRef": _key_of("ConfigMap"),
                    "fieldRef": obj(
                        {"apiVersion": string(), "fieldPath": string()},
                        "A field of the pod.",
                        required=["fieldPath"],
                        atomic=True,
                    ),
                    "fileKeyRef": obj(
                        {
                            "key": string(),
                            "optional": boolean(default=False),
                            "path": string(),
                            "volumeName": string(),
                        },
                        "A key of an environment file in a volume.",
                        required=["key", "path", "volumeName"],
                        atomic=True,
                    ),
                    "resourceFieldRef": obj(
                        {"containerName": string(), "divisor": quantity(), "resource": string()},
                        "A resource request or limit of the container.",
                        required=["resource"],
                        atomic=True,
                    ),
                    "secretKeyRef": _key_of("Secret"),
                },
                "Where the value comes from, instead of a literal.",
            ),
        },
        "An environment variable.",
        required=["name"],
    ),
)


def env(description: str, *, max_items: int | None = None) -> Schema:
    """Return the schema of a list of environment variables, told apart by their names."""
    return array(ENV_VAR, description, keys=["name"], max_items=max_items)


LOCAL_REFERENCES = Shared(
    "localReferences",
    array(
        obj({"name": _OBJECT_NAME}, "A Secret in the same namespace.", atomic=True),
        "Secrets with credentials for pulling images.",
    ),
)

RESOURCES = Shared(
    "resources",
    obj(
        {
            "claims": array(
                obj({"name": string(), "request": string()}, required=["name"]),
                "Claims of dynamic resource allocation.",
                keys=["name"],
            ),
            "limits": mapping(quantity(), "Upper bounds by resource name."),
            "requests": mapping(quantity(), "Requested amounts by resource name."),
        },
        "Compute resources of the container.",
    ),
)

_SELECTOR_TERMS = array(
    obj(
        {
            "key": string(),
            "operator": string("In, NotIn, Exists, DoesNotExist, Gt or Lt."),
            "values": array(string(), list_type="atomic"),
        },
        required=["key", "operator"],
    ),
    list_type="atomic",
)
_NODE_SELECTOR_TERM = obj({"matchExpressions": _SELECTOR_TERMS, "matchFields": _SELECTOR_TERMS}, atomic=True)

NODE_AFFINITY = obj(
    {
        "preferredDuringSchedulingIgnoredDuringExecution": array(
            obj({"preference": _NODE_SELECTOR_TERM, "weight": integer()}, required=["preference", "weight"]),
            list_type="atomic",
        ),
        "requiredDuringSchedulingIgnoredDuringExecution": obj(
            {"nodeSelectorTerms": array(_NODE_SELECTOR_TERM, list_type="atomic")},
            required=["nodeSelectorTerms"],
            atomic=True,
        ),
    },
    "Nodes that fit the hardware.",
)

CONDITIONS = array(
    obj(
        {
            "type": string(
                pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
                max_length=316,
            ),
            "status": string(enum=["True", "False", "Unknown"]),
            "observedGeneration": integer(bits=64, minimum=0),
            "lastTransitionTime": date_time(),
            "reason": string(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", min_length=1, max_length=1024),
            "message": string(max_length=32768),
        },
        required=["type", "status", "lastTransitionTime", "reason", "message"],
    ),
    "What is known about the object, one entry per aspect.",
    keys=["type"],
)

_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_NAME = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"

GATEWAY_REFERENCE = obj(
    {
        "group": string(default="gateway.networking.k8s.io", pattern=rf"^$|^{_DNS_NAME}$", max_length=253),
        "kind": string(
            default="Gateway", pattern=r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", min_length=1, max_length=63
        ),
        "namespace": string(pattern=rf"^{_DNS_LABEL}$", min_length=1, max_length=63),
        "name": string(min_length=1, max_length=253),
        "sectionName": string(pattern=rf"^{_DNS_NAME}$", min_length=1, max_length=253),
        "port": integer(minimum=1, maximum=65535),
    },
    "The Gateway that the HTTPRoute attaches to.",
    required=["name"],
)
HOSTNAME = string(pattern=rf"^(\*\.)?{_DNS_NAME}$", min_length=1, max_length=253)
