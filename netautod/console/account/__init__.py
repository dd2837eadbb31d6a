"""What users do with their own account, as pages."""
