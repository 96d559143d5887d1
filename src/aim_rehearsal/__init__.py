"""A local Kubernetes API with a simulated bridge operator, on which the whole migration can be practised."""
