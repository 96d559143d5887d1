"""Manifests as text: read as kubectl reads them, converted and validated, and edited without touching anything else."""
