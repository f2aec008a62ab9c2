"""The roof: settings, routes, accounts, and the processes that make up a studio."""
