"""The conditions under which a unit may be automatic, one module for each group of rows (pure).

Every check looks at one case and yields a finding for everything that does not hold; it never stops at the first.
"""
