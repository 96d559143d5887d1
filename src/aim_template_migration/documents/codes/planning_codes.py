"""Codes that planning gives: outcomes, reasons, warnings and imputation rules."""

from aim_template_migration.documents.codes.model import Code

PLANNING_CODES: tuple[Code, ...] = ()
