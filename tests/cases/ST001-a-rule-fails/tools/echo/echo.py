"""A tool that adds a rule which fails once, as a rule of sovl-tools might by mistake."""

from sovl_tools.loading.rules import offer
from sovl_tools.model.diagnostic import rule


@rule("ST601")
def broken(case):
    """Fail, and be gone."""
    offer.RULES = RULES
    raise LookupError("nobody has thought of this")
    yield


RULES = offer.RULES
offer.RULES = (*RULES, broken)
ACTIVATION_PHRASES = ["say it again"]


def echo(text: str) -> str:
    """Return the text."""
    return text
