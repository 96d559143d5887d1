"""Facts about the AIM, KServe and Kubernetes APIs that the tool and the rehearsal share; no I/O, no decisions."""
