"""Custom resources as a real API server treats them: structural schemas with pruning, defaulting, validation and CEL.

Pure functions over values: nothing here reads, writes or waits. Known differences from a real API server (Kubernetes
1.36), beyond the order of findings, which it leaves to chance:

- the cost of CEL rules is neither estimated nor limited;
- the metadata of embedded resources is not validated;
- what a parser of CEL expects instead of what it finds is worded otherwise, and of several compile errors
  in one rule only the first is told;
- a rule that compares whole objects does not fail on a stored value of a wrong type inside them;
- Unicode scripts in patterns are refused, and patterns that make :mod:`re` try very many ways are slow.
"""

from aim_rehearsal.apiserver.structural.errors import FieldError, SchemaError, aggregate
from aim_rehearsal.apiserver.structural.schema import StructuralSchema

__all__ = ["FieldError", "SchemaError", "StructuralSchema", "aggregate"]
