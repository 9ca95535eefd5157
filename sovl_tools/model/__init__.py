"""Values that travel through the pipeline: frozen, without I/O."""
