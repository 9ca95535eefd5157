"""The events of a YAML text, read by PyYAML, and what it says of mistakes in our words.

The parser is the one in Python, on every machine: libyaml is fifteen times as fast, but refuses
other texts than it does, and says other things of them.
"""

from __future__ import annotations

import yaml


class NotYamlError(ValueError):
    """A text that can't be read; ``offset`` counts characters, ``help`` is advice or None."""

    def __init__(self, message: str, offset: int, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.help = advice


class Events:
    """The events of a text, one after another."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._loader = yaml.SafeLoader(text)

    def next(self) -> yaml.Event:
        """Return the next event.

        Raises:
            NotYamlError: there is a mistake before it.
        """
        try:
            event: yaml.Event = self._loader.get_event()  # type: ignore[no-untyped-call]
        except yaml.MarkedYAMLError as error:
            raise self._worded(error) from error
        except (ValueError, OverflowError) as error:
            # an escape such as "\UFFFFFFFF" and a version of 5,000 digits get as far as Python
            message = "an escape or a number is too large here"
            raise NotYamlError(message, self._loader.index) from error
        return event

    def _worded(self, error: yaml.MarkedYAMLError) -> NotYamlError:
        problem, context = error.problem or "", error.context or ""
        offset = len(self._text) if error.problem_mark is None else error.problem_mark.index
        for sign, message, advice in _MISTAKES:
            if sign in problem or sign in context:
                return NotYamlError(message, offset, advice)
        return NotYamlError(f"this is not YAML: {problem}", offset)


def start(event: yaml.Event) -> int:
    """Return the offset at which an event begins."""
    return 0 if event.start_mark is None else event.start_mark.index


def end(event: yaml.Event) -> int:
    """Return the offset at which an event ends."""
    return 0 if event.end_mark is None else event.end_mark.index


_QUOTES = "put text with special characters in quotes"
_MISTAKES: tuple[tuple[str, str, str | None], ...] = (
    ("found character '\\t'", "a tab stands where only spaces may", "indent with spaces"),
    ("that cannot start any token", "no value can begin with this character", _QUOTES),
    ("mapping values are not allowed", "a colon makes no sense here", "quote text that has ': '"),
    ("could not find expected ':'", "a colon is missing after the key", "check the indentation"),
    ("sequence entries are not allowed", "an entry of a list makes no sense here", None),
    ("mapping keys are not allowed", "a key makes no sense here", None),
    ("unexpected end of stream", "the quoted text does not end", "close it with a quote"),
    ("unexpected document separator", "the quoted text does not end", "close it with a quote"),
    ("unknown escape character", "the backslash begins no escape that YAML has", "write it twice"),
    ("expected escape sequence", "the escape needs more hexadecimal digits", None),
    ("expected <block end>", "this does not belong to what stands above", "check the indentation"),
    ("expected ',' or ']'", "a comma or ']' is missing before this", None),
    ("expected ',' or '}'", "a comma or '}' is missing before this", None),
    ("expected the node content", "a value is missing here", None),
    ("'<document start>'", "something follows the end of the document", "remove it"),
    ("undefined tag handle", "the tag has no meaning here", "remove it"),
    ("while scanning an anchor", "an anchor needs a name of letters and digits", _QUOTES),
    ("while scanning an alias", "an alias needs a name of letters and digits", _QUOTES),
    ("while scanning a block scalar", "after '|' or '>' only '-', '+' or a digit may stand", None),
    ("while scanning a directive", "the directive is unknown or broken", "remove it"),
    ("while scanning a tag", "the tag is broken", _QUOTES),
    ("while parsing a tag", "the tag is broken", _QUOTES),
)
"""What PyYAML says of a problem or its context, and our words for it."""
