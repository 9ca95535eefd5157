"""``python -m sovl_tools`` is ``sovl-tools``."""

from sovl_tools.cli.main import main

if __name__ == "__main__":
    main()
