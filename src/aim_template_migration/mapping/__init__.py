"""What each v1alpha1 field becomes: field-fate tables and the recipes that follow them; pure."""
