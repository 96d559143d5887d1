"""Rows: adapters, overrides, and settings of the service that the profile pipeline does not carry."""

from aim_api.tree import field_path, get_list, get_str, has
from aim_template_migration.derived import kept
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Exceptional
from aim_template_migration.mapping.service_fates import SERVICE_FATES
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.snapshot import Observed

_CACHING_MODES = frozenset({"Shared", "Auto", "Always", "Dedicated", "Never"})


def check_adapters(case: Case) -> Findings:
    """No adapters; dynamic mode counts even with none (R, "Plan and review")."""
    service = case.service
    mode = get_str(service.obj, "spec", "adapterMode")
    if mode not in (None, "static"):
        message = f"adapterMode is {mode}, so adapters can be attached at any time"
        yield finding("AdaptersUnsupported", service, message, "spec.adapterMode")
    if get_list(service.obj, "spec", "adapters"):
        yield finding("AdaptersUnsupported", service, "the service has adapters", "spec.adapters")
    yield from _refused(case, "AdaptersUnsupported")


def check_settings(case: Case) -> Findings:
    """No overrides, and nothing else that the profile pipeline would lose."""
    service = case.service
    if has(service.obj, "spec", "overrides") or has(service.obj, "spec", "profileOverrides"):
        name = "overrides" if has(service.obj, "spec", "overrides") else "profileOverrides"
        yield finding("OverridesPresent", service, f"the service has spec.{name}", f"spec.{name}")
    yield from _refused(case, "ServiceSettingNotCarried")


def unknown_settings(case: Case) -> Findings:
    """Fields of the service that this tool does not know; their meaning might be lost."""
    for path, _, fate in _exceptions(case.service):
        if fate is None:
            where = field_path(path)
            message = f"{where} is not known to this tool, so its meaning might be lost"
            yield finding("UnmappedField", case.service, message, where)
    mode = get_str(case.service.obj, "spec", "caching", "mode")
    if mode and mode not in _CACHING_MODES:
        message = f"caching mode {mode} is not known to this tool, so its meaning might be lost"
        yield finding("UnmappedField", case.service, message, "spec.caching.mode")


def _refused(case: Case, code: str) -> Findings:
    """Yield one finding for each top-level field whose fate is a refusal with this code."""
    named: set[str] = set()
    for path, value, fate in _exceptions(case.service):
        where = field_path(path[:2])
        if fate is None or fate.refusal != code or is_empty(value) or where in named:
            continue
        named.add(where)
        yield finding(code, case.service, f"{where} is not carried: {fate.reason}", where)


@kept
def _exceptions(service: Observed) -> list[Exceptional]:
    return SERVICE_FATES.exceptions({"spec": service.obj.get("spec")})
