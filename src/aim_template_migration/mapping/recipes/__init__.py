"""The guide's conversion recipes (G): v1alpha1 objects in, v1alpha2 objects and the fate of every leaf out; pure."""
