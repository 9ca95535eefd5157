"""The checks of procedures, ST75x and ST76x: before anything runs."""
