"""Files that kubectl takes or refuses whatever their objects are; kubectl itself is asked as well."""

from dataclasses import dataclass

from aim_api.kinds import AIM_GROUP


@dataclass(frozen=True, slots=True)
class FileCase:
    """One file.

    Attributes:
        name: what is tried.
        text: the file.
        taken: whether kubectl sends all of it to the server, which takes it.
        places: line and field of the errors.
        message: a part of the message of the first.
    """

    name: str
    text: str
    taken: bool
    places: tuple[tuple[int, str], ...] = ()
    message: str = ""

    def __str__(self) -> str:
        """Return the name."""
        return self.name


_LATEST = f"apiVersion: {AIM_GROUP}/v1alpha2"
_LEGACY = f"apiVersion: {AIM_GROUP}/v1alpha1"
SERVICE = f"{_LATEST}\nkind: AIMService\nmetadata: {{name: a}}\nspec: {{model: {{name: b}}}}\n"
_REST = "metadata: {name: c}\n  spec: {model: {name: b}}\n"
_BARE = f"- {_REST}"
_WHOLE = f"- {_LATEST}\n  kind: AIMService\n  {_REST}"
_MODEL = f"- {_LATEST}\n  kind: AIMModel\n  metadata: {{name: d}}\n  spec: {{image: e}}\n"
_LIST = "apiVersion: v1\nkind: List\nitems:\n"
_SERVICES = f"{_LATEST}\nkind: AIMServiceList\nitems:\n"
_NESTED = f"[{{{_LATEST}, kind: AIMModel, metadata: {{name: d}}, spec: {{image: e}}}}]"
_FLOW = f"{{{_LATEST}, kind: AIMService, metadata: {{name: a}}, spec: {{model: {{name: b}}}}}}"

FILES = (
    FileCase("a text below", f"{SERVICE}---\nany text\n", False, ((6, ""),), "it is a text, no object"),
    FileCase("a text above", f"any text\n---\n{SERVICE}", False, ((1, ""),), "it is a text, no object"),
    FileCase("a list below", f"{SERVICE}---\n[1, 2]\n", False, ((6, ""),), "it is a list, no object"),
    FileCase("a number below", f"{SERVICE}---\n5\n", False, ((6, ""),), "it is a number, no object"),
    FileCase("a boolean below", f"{SERVICE}---\nyes\n", False, ((6, ""),), "it is a boolean, no object"),
    FileCase("null below", f"{SERVICE}---\nnull\n", True),
    FileCase("a comment below", f"{SERVICE}---\n# nothing\n", True),
    FileCase("an empty object below", f"{SERVICE}---\n{{}}\n", False, ((6, "apiVersion"), (6, "kind"))),
    FileCase("no kind below", f"{SERVICE}---\napiVersion: v1\n", False, ((6, "kind"),), "kind not set"),
    FileCase(
        "no apiVersion below", f"{SERVICE}---\nkind: ConfigMap\n", False, ((6, "apiVersion"),), "apiVersion not set"
    ),
    FileCase(
        "an object without apiVersion", SERVICE.split("\n", 1)[1], False, ((1, "apiVersion"),), "apiVersion not set"
    ),
    FileCase("objects in a bare list", f"- {_FLOW}\n", False, ((1, ""),), "it is a list, no object"),
    FileCase("a key twice", f"{SERVICE.rstrip()[:-1]}, replicas: 1, replicas: 2}}\n", True),
    FileCase("a list", f"{_LIST}{_WHOLE}{_MODEL}", True),
    FileCase("a list of the group", f"{_LATEST}\nkind: List\nitems:\n{_WHOLE}{_MODEL}", True),
    FileCase(
        "a list of an unserved version",
        f"apiVersion: {AIM_GROUP}/v1\nkind: List\nitems:\n{_WHOLE}",
        False,
        ((2, "kind"),),
    ),
    FileCase("a list without apiVersion", f"kind: List\nitems:\n{_WHOLE}", False, ((1, "apiVersion"),)),
    FileCase("a list with a text", f"{_LIST}- text\n{_WHOLE}", False, ((4, "items[0]"),), "must be an object"),
    FileCase("a list with null", f"{_LIST}- null\n{_WHOLE}", False, ((4, "items[0]"),), "must be an object"),
    FileCase("an item without apiVersion", f"{_LIST}- kind: AIMService\n  {_REST}", False, ((4, "apiVersion"),)),
    FileCase(
        "an item of nothing known", f"{_LIST}- {{a: b}}\n{_WHOLE}", False, ((4, ""),), "apiVersion and kind not set"
    ),
    FileCase(
        "a list in a list",
        f"{_LIST}- {{apiVersion: v1, kind: List, items: {_NESTED}}}\n",
        False,
        ((4, ""),),
        "a list in a list",
    ),
    FileCase("a typed list", f"{_SERVICES}{_BARE}{_WHOLE}", True),
    FileCase("a typed list of an older version", f"{_LEGACY}\nkind: AIMServiceList\nitems:\n{_WHOLE}", True),
    FileCase(
        "a typed list with another kind",
        f"{_SERVICES}{_BARE}{_MODEL}",
        False,
        ((7, "kind"),),
        'kubectl reads the items of AIMServiceList as AIMService, and this is none: unknown field "spec.image"',
    ),
    FileCase(
        "a typed list of a replaced kind",
        f"{_LEGACY}\nkind: AIMServiceTemplateList\nitems:\n{_MODEL.replace('AIMModel', 'AIMProfile')}",
        False,
        ((5, "kind"),),
        "kubectl reads the items of AIMServiceTemplateList as AIMServiceTemplate, and this is none",
    ),
    FileCase(
        "a typed list of an unserved kind",
        f"{_LATEST}\nkind: AIMServiceTemplateList\nitems:\n{_WHOLE}",
        False,
        ((2, "kind"),),
        f"no matches for kind 'AIMServiceTemplateList' in version '{AIM_GROUP}/v1alpha2'",
    ),
    FileCase("an empty one", f"{_LATEST}\nkind: AIMServiceTemplateList\nitems: []\n", False, ((2, "kind"),)),
    FileCase("a typed list with items of an empty kind", f"{_SERVICES}- kind: ''\n  {_REST}", True),
    FileCase("a typed list with items without kind", f"{_SERVICES}- {_LATEST}\n  {_REST}", False, ((4, "kind"),)),
    FileCase(
        "a typed list with items without version",
        f"{_SERVICES}- kind: AIMService\n  {_REST}",
        False,
        ((4, "apiVersion"),),
    ),
    FileCase("a typed list with items of no API", f"{_SERVICES}- kind: ConfigMap\n  {_REST}", False, ((4, ""),)),
    FileCase(
        "a typed list without items", f"{_LATEST}\nkind: AIMServiceList\n", False, ((1, "items"),), "Required value"
    ),
    FileCase(
        "a typed list with an object as items",
        f"{_LATEST}\nkind: AIMServiceList\nitems: {{}}\n",
        False,
        ((3, "items"),),
    ),
    FileCase("a list of another API", f"apiVersion: v1\nkind: ConfigMapList\nitems:\n{_WHOLE}", False, ((5, "kind"),)),
    FileCase("a list of an unknown API", f"apiVersion: a.b/v1\nkind: FooList\nitems:\n{_WHOLE}", False, ((5, "kind"),)),
)
