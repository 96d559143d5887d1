"""The simulated bridge operator of a rehearsal."""

from aim_rehearsal.operator.bridge_operator import BridgeOperator
from aim_rehearsal.operator.settings import Misbehaviour, NameFormulas, ProjectionMode, Settings

__all__ = ["BridgeOperator", "Misbehaviour", "NameFormulas", "ProjectionMode", "Settings"]
