"""Following changes of files: events, fingerprints, and the state of a registry's sources."""
