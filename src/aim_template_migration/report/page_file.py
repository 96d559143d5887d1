"""The page on disk (shell): private, and never in the place of a file that is no report."""

import os
from pathlib import Path

from aim_template_migration.documents.private_files import PrivateFileError, read, replace, write_new
from aim_template_migration.report.html import is_report


def refuse_foreign(path: Path) -> None:
    """Refuse a name that something else has.

    Raises:
        PrivateFileError: a file, link or directory that is no report has the name.
    """
    if os.path.lexists(path) and not is_report(read(path)):
        raise PrivateFileError(f"{path} exists and is no report, so it is not overwritten; choose another name")


def write_page(path: Path, page: bytes) -> None:
    """Write the page (0600), in the place of an earlier report if there is one.

    Raises:
        PrivateFileError: something else has the name, or the disk or the permissions do not allow it.
    """
    if os.path.lexists(path):
        refuse_foreign(path)
        replace(path, page)
    else:
        write_new(path, page)
