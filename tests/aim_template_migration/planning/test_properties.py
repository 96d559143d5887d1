"""Any objects plan without a traceback, and nothing unsupported becomes automatic.

The healthy fleet is disturbed at random: a field is removed, changed to another value or another type, or a new one is
added. Where the unit is still automatic, every difference must be one that the migration provably carries.
"""

from collections.abc import Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aim_api.tree import JsonObject, field_path, leaves
from aim_template_migration.mapping.model_fates import MODEL_FATES
from aim_template_migration.mapping.service_fates import SERVICE_FATES
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES
from aim_template_migration.planning.assess import assess
from aim_template_migration.planning.make import PlanFiles
from tests.support.fleet import Fleet, happy_fleet

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEXT = st.text("abcdefghij/:.-0123456789 ", max_size=12)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | TEXT,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXT, below, max_size=3),
    max_leaves=6,
)
TABLES = {"AIMService": SERVICE_FATES, "AIMServiceTemplate": TEMPLATE_FATES, "AIMModel": MODEL_FATES}


def containers(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if isinstance(value, dict):
        yield path, value
        for key, below in value.items():
            yield from containers(below, (*path, key))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from containers(below, (*path, number))


@st.composite
def disturbed(draw: st.DrawFn) -> tuple[Fleet, list[str]]:
    """Draw a fleet with a few disturbances, and where they are."""
    fleet = happy_fleet()
    where: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        obj = fleet.objects[draw(st.sampled_from(sorted(fleet.objects)))]
        inside = [(path, node) for path, node in containers(obj) if path and path[0] in ("metadata", "spec", "status")]
        if not inside:
            continue
        path, node = draw(st.sampled_from(inside))
        key = draw(
            st.sampled_from(sorted(node) or ["new"]) | st.sampled_from(["brandNew", "profile", "overrides", "env"])
        )
        if path == ("metadata",) and key in ("name", "namespace", "managedFields"):
            continue
        if key in node and draw(st.booleans()):
            del node[key]
        else:
            node[key] = draw(JUNK)
        where.append(f"{obj['kind']} {field_path((*path, key))}")
    return fleet, where


@QUICK
@given(disturbed())
def test_any_fleet_plans_without_a_traceback(case: tuple[Fleet, list[str]]):
    fleet, _ = case
    assert isinstance(fleet.files(), PlanFiles)


@QUICK
@given(disturbed())
def test_what_is_still_automatic_has_no_unknown_or_unsupported_field(case: tuple[Fleet, list[str]]):
    fleet, where = case
    assessment = assess(fleet.snapshot(), fleet.settings())
    for unit in assessment.units:
        if unit.disposition != "automatic":
            continue
        for kind, table in TABLES.items():
            for obj in fleet.of(kind):
                _all_known_and_carried(obj, table, where)
        assert not fleet.only("AIMService")["spec"].get("env"), where
        assert "overrides" not in fleet.only("AIMService")["spec"], where


def _all_known_and_carried(obj: JsonObject, table, where: list[str]) -> None:
    for path, value in leaves(obj.get("spec"), ("spec",)):
        fate = table.find(path, value)
        assert fate is not None, (where, path)
        assert not fate.refusal or value in (None, "", [], {}), (where, path)


@QUICK
@given(st.sampled_from(["AIMService", "AIMServiceTemplate", "AIMModel", "AIMTemplateCache"]), TEXT.filter(bool), JUNK)
def test_a_field_nobody_knows_makes_the_unit_manual(kind: str, name: str, value: object):
    fleet = happy_fleet()
    fleet.only(kind)["spec"][f"x{name}"] = value
    assert fleet.unit().disposition == "manual"


@QUICK
@given(disturbed())
def test_documents_are_deterministic_for_any_fleet(case: tuple[Fleet, list[str]]):
    fleet, _ = case
    assert fleet.files().files == fleet.files().files
