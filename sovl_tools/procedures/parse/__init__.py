"""From the files of procedures to procedures."""
