"""``python -m sovl_tools`` is ``sovl-tools``."""

import os
import sys

# -m puts the current directory first, where a project's click.py would be taken for the library
if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]

from sovl_tools.cli.main import main

if __name__ == "__main__":
    main()
