"""The server of the page of ``sovl-tools dev``."""
