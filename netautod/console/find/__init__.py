"""What the search box finds: addresses, devices, tasks and documents."""
