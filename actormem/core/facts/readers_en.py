"""Reads English values: where a value ends in the words after a rule, and which words are no value.

Law of the file: a reader gives exact pieces of what it was given, in order, or nothing.
"""

import re
from typing import Final

__all__ = [
    "anything",
    "capital_name",
    "cut",
    "items",
    "name",
    "phrase",
    "place",
    "products",
    "proper",
    "tastes",
]

PHRASE_WORDS_MAX: Final = 9  # longer is a story, not a value
ITEM_WORDS_MAX: Final = 5
PHRASE_CHARS_MAX: Final = 80
CUT: Final = re.compile(
    r"\s(?:and|or|plus)\s+(?=(?:I|I'm|i'm|I've|my|we|you|it|it's|please|can|could|what|how|that|this|so|"
    r"then|also|not|they|he|she|there|live|lives|work|works|love|loves|like|likes|hate|hates"
    r"|prefer|prefers|use|uses|have|has|am|is|was|would|will|do|don't|doesn't|need|want|never|always|"
    r"hoping|looking|trying|wondering|would|I'd|i|was|were|just|thinking)\b)"
    r"|\s(?:but|because|cause|so|since|which|who|when|whenever|while|though|although|if|unless|without|"
    r"as|until|before|after|where|whereas|these days|nowadays|right now|now|currently|at the moment"
    r"|for now|anymore|any more|any longer|too|as well|please|thanks|thank you|by the way|btw|lol|haha|"
    r"instead|again|lately|recently|already|actually|honestly|anyway|today|and so|at all|from now on)\b"
    r"|\s[-–—]+\s|\x00|\n",
)
VAGUE: Final = re.compile(
    r"(?:it|it's|that|that's|this|these|those|them|they|him|her|his|he|she|us|you|your|yours|you're|how|"
    r"what|what's|when|where|why|who|whether|if|as|to be|being|doing so|so|and|or|but|not|such|one|ones"
    r"|something|anything|everything|nothing|things?|stuff|someone|people|i|i'm|i'd|i've|my|me|we|our|"
    r"its|their|there|here|at|with|for|of|is|are|was|can|could|please|thanks|thank|the (?:idea|fact|way|"
    r"sound|look|part|suggestion|thought|vibe|energy|feeling|concept|one|first|second|last|option)"
    r"|seeing|hearing|knowing|more|most|less|same|any|some of|all of|none|about|much|very|too|really|"
    r"also|just|no|yes|ok|okay|hi|hello|have|has|do|does|did|will|would|should|let|lets|let's|which|"
    r"because|then|than|both of|either|an? (?:lot|bit|good|great|nice)\b|know|think|see|say|feel|guess|"
    r"hope|wish|mean|need|want|sorry|right)\b",
    re.IGNORECASE,
)
ARTICLE: Final = re.compile(r"(?:a|an|the|some|any|both|all|eating|having)\s+(?=\S)", re.IGNORECASE)
DAY_TAIL: Final = r"\s(?:on|in|last|this|since|for|at|as|with|to)\s.*$"
ITEMS_MAX: Final = 8  # of one list
REMARK: Final = re.compile(
    r"(?:the (?-i:[a-z])|an? (?:bit|few|plan|single)|to (?:know|see|hear|get|have|think|be|say|ask|"
    r"understand|confirm|make sure|start|try|thank|add|point|share|keep|learn more|discuss|talk|"
    r"focus)\b|to$|option|#|version|having\b|getting\b|everywhere|where)",
    re.IGNORECASE,
)
STRAY: Final = re.compile(
    r"[\"*<>{}\[\]`=|]|^'|^(?:especially|personally|'?cause|particularly|even|never|now|few|to|on|like|"
    r"over|through|finding|making sure|day \d+)\b|\b(?:without|gives|is|are|was|were|has|had|you|your|"
    r"this|them|it)\b",
    re.IGNORECASE,
)
SPLIT: Final = re.compile(r"\s*,\s*(?:and|or|&)\s+|\s*,\s*|\s+(?:and|or|&|as well as)\s+", re.IGNORECASE)
PAIRS: Final = re.compile(
    r"\b(?:mac and cheese|macaroni and cheese|salt and pepper|rock and roll|fish and chips|black and "
    r"white|bed and breakfast|arts and crafts|peanut butter and jelly|r&b|science and technology|peace "
    r"and quiet)\b",
    re.IGNORECASE,
)
PROPER: Final = re.compile(
    r"(?:the\s+)?[A-Z0-9][\w.&'+-]*(?:\s+(?:(?:of|the|and|&|de|la|van|for)\s+)?[A-Z0-9][\w.&'+-]*){0,5}|"
    r"[\u4e00-\u9fff·]{2,20}",
)
NAME: Final = re.compile(
    r"[A-Z\u00c0-\u00de][\w'-]*\.?(?:\s+(?:(?:de|van|von|der|la|bin|"
    r"al)\s+)?[A-Z\u00c0-\u00de][\w'-]*\.?){0,3}|[\u4e00-\u9fff·]{2,10}",
)
PLAIN_NAME: Final = re.compile(r"[a-z][a-z'-]{1,20}$")
NOT_NAMES: Final = re.compile(
    r"(?:not|a|an|the|on|in|at|too|so|very|also|used|being|back|later|tomorrow|tonight|today|when|if|as|"
    r"crazy|maybe|and|or|spelled|hard|unique|common|long|short|important|private|secret|just|what|that|"
    r"this"
    r"|it|I|I'm|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Sorry|Sure|Not|From|Going|"
    r"Looking|Interested|Curious|Here|New|Just|Trying|American|British|Chinese|German|French|Indian|"
    r"Canadian"
    r"|Italian|Spanish|Japanese|Christian|Catholic|Muslim|Jewish|OK|Okay|Good|Great|Fine|Ready|So|In|On|"
    r"At|The|A|An|Also|Excited|Glad|Happy|Working|Writing|Planning|Thinking|Having|Wondering|Hoping|"
    r"Back|Still|Calling|Reaching|Very)$",
)


def cut(text: str) -> str:
    """The words up to where another thought begins."""
    stop = CUT.search(text)
    return (text[: stop.start()] if stop else text).strip(" .,'\"*-")


def phrase(text: str) -> tuple[str, ...]:
    """One value of a few words."""
    value = cut(text.split(",", 1)[0])
    if VAGUE.match(value) or not value:
        return ()
    bare = ARTICLE.sub("", value, count=1) if ARTICLE.match(value) else value
    return (bare,) if len(bare) <= PHRASE_CHARS_MAX and len(bare.split()) <= PHRASE_WORDS_MAX else ()


def items(text: str) -> tuple[str, ...]:
    """The values of a list such as `peanuts, shrimp and milk`."""
    text = cut(text)
    if PAIRS.search(text):
        return phrase(text)
    found: list[str] = []
    for part in SPLIT.split(text):
        value = cut(part)
        value = ARTICLE.sub("", value, count=1) if ARTICLE.match(value) else value
        long = (
            len(value.split()) > (ITEM_WORDS_MAX if found else PHRASE_WORDS_MAX)
            or len(value) > PHRASE_CHARS_MAX
        )
        if not value or long or VAGUE.match(value):
            break
        found.append(value)
    return tuple(found)


def tastes(text: str) -> tuple[str, ...]:
    """What one likes or not in general; `the idea` and `option 2` speak of what was said just now."""
    if REMARK.match(text):
        return ()
    first, *rest = items(text)[:ITEMS_MAX] or ("",)
    if not first or STRAY.search(first):
        return ()
    joined = re.search(r"\s(?:and|or|&)\s", text) is not None
    return (first, *(value for value in rest if joined and not STRAY.search(value)))


def proper(text: str) -> tuple[str, ...]:
    """A name of an organisation, a place or a product: the run of words with capitals."""
    match = PROPER.match(cut(text))
    value = match[0].rstrip(".,'") if match else ""
    return (value,) if value and value not in ("I", "I'm", "A", "My") else ()


def name(text: str) -> tuple[str, ...]:
    """A person's name; all in small letters only where it stands alone."""
    text = text.strip(" '\"*")
    match = NAME.match(text)
    if match and not NOT_NAMES.match(match[0]):
        return (match[0].rstrip("."),)
    word = cut(text.split(",", 1)[0])
    return (word,) if PLAIN_NAME.match(word) and not NOT_NAMES.match(word) else ()


def products(text: str) -> tuple[str, ...]:
    """Names of products in a list, each with a capital."""
    found = (proper(part) for part in SPLIT.split(re.sub(DAY_TAIL, "", cut(text)))[:ITEMS_MAX])
    return tuple(value for values in found for value in values)


def capital_name(text: str) -> tuple[str, ...]:
    """A person's name that begins with a capital."""
    match = NAME.match(text.strip(" '\"*"))
    return (match[0].rstrip("."),) if match and not NOT_NAMES.match(match[0].split()[0]) else ()


PLACE_PART: Final = re.compile(r"\s*(?:[A-Z0-9#][\w.'#/-]*)(?:\s+[A-Z0-9#][\w.'#/-]*){0,4}$")
NOT_PLACE: Final = re.compile(
    r"(?:not|fear|peace|harmony|hope|denial|a bubble|the moment|the past|the present|the future|constant|"
    r"here|there|this|that|an? (?:\w+ )?(?:world|society|hotel|state)|my|it|him|her|them|you|the "
    r"(?:next|other|same|new|top|bottom|end|point|question|city cent\w+)"
    r"|next|another|using|a (?:new|different|bigger|smaller|better)|stage|step|phase|[a-z]+ing)\b",
)
PLACE_TAIL: Final = re.compile(
    r"\s(?:with|for|since|in (?:19|20)\d\d|last|this|next|about|over|near|ago|a (?:few|couple)|two|"
    r"three|\d+ (?:years?|months?|weeks?)|alone|together|from|to be|to start|and it|full-?time|"
    r"permanently|temporarily|soon|on (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w+)\b.*$",
)


def place(text: str) -> tuple[str, ...]:
    """A city or a street address, with the parts after its commas."""
    first, *rest = cut(text).split(",")
    value = PLACE_TAIL.sub("", first).rstrip(" .'")
    if not value or "@" in value or NOT_PLACE.match(value) or len(value.split()) > PHRASE_WORDS_MAX:
        return ()
    if value.islower() and len(value.split()) > 3:
        return ()
    if len(value) == len(first.rstrip(" .'")):
        for part in rest:
            kept = cut(part)
            if VAGUE.match(kept) or not PLACE_PART.match(kept):
                break
            value = text[: text.index(part, len(value)) + len(part)].rstrip(" .")
    return (value,)


def anything(text: str) -> tuple[str, ...]:
    """Whatever was captured, up to where another thought begins."""
    return (cut(text.split(",", 1)[0]),) if cut(text.split(",", 1)[0]) else ()
