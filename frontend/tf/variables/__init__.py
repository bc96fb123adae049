"""Variables by name, as the graph API has them: scopes, sharing, and variables in parts."""
