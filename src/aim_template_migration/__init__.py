"""Plan, review and apply the move of AIM services from the template pipeline to the profile pipeline."""
