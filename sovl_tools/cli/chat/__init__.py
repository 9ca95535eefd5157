"""``sovl-tools chat``: the command, what is typed and shown, and the commands of a chat."""
