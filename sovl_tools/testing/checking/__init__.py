"""What each API refuses in a request, written from its documentation and its own messages.

Where it is not known how an API decides, it is taken to refuse: two outputs of one call, and an
item with an ``id`` of its own whose reasoning is missing where nothing was stored (Responses), two
tools of one name (OpenAI), and a ``$ref`` that leads nowhere in tools that are not strict. Limits
that depend on the model are not looked at, nor is what hosted tools and media hold.
"""
