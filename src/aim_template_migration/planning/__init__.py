"""From a cluster to a plan: inventory, snapshot, classification, steps, documents (R, "Plan and review")."""
