"""The deliveries to receivers: one node at a time for each webhook, in order for each subject."""
