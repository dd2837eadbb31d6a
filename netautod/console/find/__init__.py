"""The search box: it finds addresses, devices, tasks and documents."""
