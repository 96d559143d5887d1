"""Applying a plan: lock, revalidation, fences, steps, journal, result."""
