"""Attributes that a program declares: how many values live at once, and what asks for them.

What is declared counts before the table of `attributes`, whoever found the fact: rules, a caller, a model. It holds
for what is stated from then on; values that were stored before stay as they are until the next one comes.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

import msgspec

from actormem.core.facts import attributes
from actormem.core.facts.reading import one_of_several
from actormem.core.ids import checked_id
from actormem.core.values import Cardinality, Fact
from actormem.errors import UsageError

__all__ = ["NONE_DECLARED", "Attributes", "Declaration", "declared"]

Declaration: TypeAlias = "Cardinality | Sequence[str]"
"""`one` or `many`; or a list of it and the words that ask for the attribute."""

ATTRIBUTES_MAX: Final = 128  # each is looked for in every query: 1 µs
WORDS_MAX: Final = 16  # of one attribute: its names in a few languages
WORD_CHARS_MAX: Final = 40
HINT: Final = "give 'one' or 'many', or a list of it and the words that ask for it: ('one', 'desk', '工位')"


class Attributes(msgspec.Struct, frozen=True):
    """What is known of attributes: those declared, and the table for all others.

    Attributes:
        cardinalities: Of each one declared.
        cues: What asks for each one declared.
    """

    cardinalities: Mapping[str, Cardinality] = {}
    cues: tuple[tuple[str, re.Pattern[str]], ...] = ()

    def cardinality(self, attribute: str) -> Cardinality:
        """Whether the user has `one` value of it at a time or `many`."""
        return self.cardinalities.get(attribute) or attributes.cardinality(attribute)

    def names(self, query: str) -> tuple[str, ...]:
        """The attributes that a query asks for, declared ones first."""
        text = query[: attributes.QUERY_CHARS_MAX]
        named = [name for name, cue in self.cues if cue.search(text)]
        return tuple(dict.fromkeys((*named, *attributes.attribute_names(query))))

    def applied(self, fact: Fact) -> Fact:
        """The fact as declared; of several friends each may have a value of his own, whatever is declared."""
        found = self.cardinalities.get(fact.attribute, fact.cardinality)
        if found == fact.cardinality or (found == "one" and one_of_several(fact.subject)):
            return fact
        return msgspec.structs.replace(fact, cardinality=found)


NONE_DECLARED: Final = Attributes()


def declared(given: object) -> Attributes:
    """The attributes that a mapping of names to declarations gives; none for None.

    Args:
        given: `{"seat": "one", "desk": ("one", "desk", "工位")}`. An attribute's own name, with spaces for `_`, always
            asks for it.

    Raises:
        UsageError: It is no such mapping, or too large.
    """
    if given is None:
        return NONE_DECLARED
    if not isinstance(given, Mapping):
        raise UsageError(f"attributes must be a mapping, not {type(given).__name__}", hint=HINT)
    rows = cast("Mapping[object, object]", given)
    if len(rows) > ATTRIBUTES_MAX:
        raise UsageError(f"at most {ATTRIBUTES_MAX} attributes may be declared, not {len(rows)}")
    cardinalities: dict[str, Cardinality] = {}
    cues: list[tuple[str, re.Pattern[str]]] = []
    for key, declaration in rows.items():
        name = checked_id(key, "attribute")
        cardinalities[name], words = _read(name, declaration)
        cues.append((name, _cue((name.replace("_", " "), *words))))
    return Attributes(cardinalities, tuple(cues))


def _read(name: str, declaration: object) -> tuple[Cardinality, tuple[str, ...]]:
    parts = (declaration,) if isinstance(declaration, str) else declaration
    if not isinstance(parts, (tuple, list)):
        raise UsageError(f"attribute {name} is declared as a {type(declaration).__name__}", hint=HINT)
    how_many, *words = cast("Sequence[object]", parts) or ("",)
    if how_many not in ("one", "many"):
        raise UsageError(f"attribute {name} must be declared as 'one' or 'many'", hint=HINT)
    named = [one for one in words if isinstance(one, str) and 0 < len(one.strip()) <= WORD_CHARS_MAX]
    if len(named) < len(words) or len(words) > WORDS_MAX:
        raise UsageError(
            f"attribute {name} must have at most {WORDS_MAX} words of 1 to {WORD_CHARS_MAX} characters",
            hint=HINT,
        )
    return how_many, tuple(one.strip() for one in named)


def _cue(words: Sequence[str]) -> re.Pattern[str]:
    """Finds any of the words: whole ones in Latin letters, plural or not; pieces in Chinese."""
    shapes = [
        rf"(?<![a-z0-9]){re.escape(word)}(?:s|es)?(?![a-z0-9])" if word.isascii() else re.escape(word)
        for word in words
    ]
    return re.compile("|".join(shapes), re.IGNORECASE)
