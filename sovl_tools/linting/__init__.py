"""What `validate` adds to loading: rules by name, selection, suppressions."""
