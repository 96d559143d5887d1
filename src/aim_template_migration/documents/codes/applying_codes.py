"""Codes that applying gives: step failures, failures of the run, and unit results."""

from aim_template_migration.documents.codes.model import Code

APPLYING_CODES: tuple[Code, ...] = ()
