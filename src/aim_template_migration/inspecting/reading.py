"""Reads the units of a plan (shell): which ones, on which cluster, several side by side; nothing is ever written."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from aim_api.tree import JsonObject
from aim_template_migration.applying.clock import SystemClock
from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected
from aim_template_migration.applying.revalidate import Revalidator
from aim_template_migration.applying.structure import structural_faults
from aim_template_migration.documents.plan import Plan, Unit
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import Forbidden, RequestError, RequestNotSent, Unauthorized
from aim_template_migration.kube.side_by_side import side_by_side as worked_on
from aim_template_migration.planning.settings import Settings

T = TypeVar("T")
R = TypeVar("R")

_SIDE_BY_SIDE = 8
_OF_THE_WHOLE = (Unauthorized, RequestNotSent, Forbidden)


def select(plan: Plan, only: Iterable[str]) -> tuple[Unit, ...]:
    """Return the units that are named, or all, in plan order.

    Raises:
        PlanRejected: a name is no unit of the plan.
    """
    chosen, known = frozenset(only), {unit.id for unit in plan.units}
    unknown = sorted(chosen - known)
    if unknown:
        example = f"; units are named like {plan.units[0].id}" if plan.units else ""
        raise PlanRejected(f"--only {unknown[0]} is no unit of the plan{example}")
    return tuple(unit for unit in plan.units if not chosen or unit.id in chosen)


def require_readable(files: PlanFiles) -> None:
    """Refuse a plan whose units do not have the shape of a plan: what is read follows from what stands in it.

    Raises:
        PlanRejected: it has a structural fault.
    """
    faults = structural_faults(files.plan)
    if faults:
        raise PlanRejected(f"{files.path} is no sound plan: {faults[0]}; name the plan file that was applied")


def revalidator_of(cluster: Cluster, plan: Plan, edited: Mapping[str, JsonObject] | None = None) -> Revalidator:
    """Return what reads the pins of a plan; ``edited`` has the bodies of hand-edited targets, by id."""
    settings = Settings(
        namespaces=plan.namespaces,
        runtime_projection_mode=plan.runtime_projection_mode,
        accept_observed_generation=plan.accept_observed_generation,
    )
    return Revalidator(cluster, plan, settings, SystemClock(threading.Event()), edited or {})


def side_by_side(action: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return what ``action`` gives for each item, in order; several run at a time.

    Raises:
        Exception: the first that ``action`` raised; what has not begun by then is left.
    """
    found = dict(worked_on(lambda number: action(items[number]), range(len(items)), _SIDE_BY_SIDE))
    return [found[number] for number in range(len(items))]


def of_the_whole(error: RequestError) -> bool:
    """Return whether a failed read says something about every read: permissions, credentials, no connection."""
    return isinstance(error, _OF_THE_WHOLE)
