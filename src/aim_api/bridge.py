"""The contract with the bridge operator: the one place for names that an operator build may spell differently.

The bridge is the operator build that runs both pipelines. While both annotations of the pin match (the service's
generation and the UID of its InferenceService), its profile pipeline observes that exact legacy InferenceService and
renders nothing (R, "Dry-run and commit").
"""

from dataclasses import dataclass

PRESERVE_UID = "migration.aim.eai.amd.com/preserve-inference-service-uid"
PRESERVE_GENERATION = "migration.aim.eai.amd.com/preserve-generation"
RECONCILIATION_PAUSED = "aim.eai.amd.com/reconciliation-paused"

COMPATIBLE_CONDITION = "BridgeCompatible"
PRESERVED_CONDITION = "InferenceServicePreserved"


@dataclass(frozen=True, slots=True)
class Pin:
    """What the service patch binds: the generation it leads to and the InferenceService that must survive.

    Attributes:
        inference_service_uid: UID of the live, legacy-rendered InferenceService.
        generation: the generation that the AIMService has after the cutover.
    """

    inference_service_uid: str
    generation: int

    def annotations(self) -> dict[str, str]:
        """Return the pin as the two annotations of the AIMService; the generation is written in decimal."""
        return {PRESERVE_UID: self.inference_service_uid, PRESERVE_GENERATION: str(self.generation)}

    @classmethod
    def from_annotations(cls, annotations: dict[str, str]) -> "Pin | None":
        """Return the pin that ``annotations`` carry, or None where it is absent, partial or no decimal number."""
        uid = annotations.get(PRESERVE_UID)
        generation = annotations.get(PRESERVE_GENERATION, "")
        if not uid or not generation.isascii() or not generation.isdecimal():
            return None
        return cls(uid, int(generation))
