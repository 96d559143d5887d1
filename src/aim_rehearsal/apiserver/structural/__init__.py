"""Custom resources as a real API server treats them: structural schemas with pruning, defaulting, validation and CEL.

Pure functions over values: nothing here reads, writes or waits.
"""

from aim_rehearsal.apiserver.structural.errors import FieldError, SchemaError, aggregate
from aim_rehearsal.apiserver.structural.schema import StructuralSchema

__all__ = ["FieldError", "SchemaError", "StructuralSchema", "aggregate"]
