"""The closed set of codes: outcomes, reasons, warnings, imputation rules, step failures.

``explain CODE`` and the reference page are made from this table, and a test holds every use of a code to it.
"""

from aim_template_migration.documents.codes.applying_codes import APPLYING_CODES
from aim_template_migration.documents.codes.inspecting_codes import INSPECTING_CODES
from aim_template_migration.documents.codes.model import Code
from aim_template_migration.documents.codes.planning_codes import PLANNING_CODES

CODES: dict[str, Code] = {code.code: code for code in (*PLANNING_CODES, *APPLYING_CODES, *INSPECTING_CODES)}

__all__ = ["CODES", "Code"]
