"""Custom resources as a real API server treats them: structural schemas with pruning, defaulting, validation and CEL.

A package of its own because two others share it: the local API answers with it, and the offline validation of manifests
speaks with it. One evaluator, held to a real API server by its conformance tests, makes both say the same.

Pure functions over values: nothing here reads, writes or waits.
"""

from aim_schema.errors import FieldError, SchemaError, aggregate
from aim_schema.schema import StructuralSchema

__all__ = ["FieldError", "SchemaError", "StructuralSchema", "aggregate"]
