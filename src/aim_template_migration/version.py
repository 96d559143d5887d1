"""The version of this tool, recorded in every document it writes."""

__version__ = "0.1.0"
