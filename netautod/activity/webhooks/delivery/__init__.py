"""How deliveries reach their receivers: one node at a time for each webhook, in order for each subject."""
