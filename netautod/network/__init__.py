"""The network: devices, inventories, discovered data, configs, credentials, sites."""
