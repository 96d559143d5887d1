"""The kinds that a plan may pin, and that apply therefore reads by name: never a Secret."""

from aim_api.kinds import AIM_KINDS, DEPLOYMENT, KSERVE_KINDS, PVC, Kind

PINNED_KINDS: dict[str, Kind] = {kind.name: kind for kind in (*AIM_KINDS, *KSERVE_KINDS, PVC, DEPLOYMENT)}
