"""Writes the CustomResourceDefinitions in ``src/aim_api/crds``.

The definitions are composed here, and not written by hand as YAML, because the same structures (environment
variables, hardware, selectors, references) return many times and because both served versions of a kind must have one
and the same property tree: a status write through a narrower version silently drops the fields of the other.
``python -m tools.crds`` writes the files; a test compares them with what this package composes.
"""
