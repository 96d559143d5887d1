"""The story of a rehearsal: a local API, a sample fleet, and plan, dry run and commit as a real cluster gets them."""
