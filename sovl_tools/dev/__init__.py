"""The page of ``sovl-tools dev``: what it asks for, and what happens meanwhile."""
