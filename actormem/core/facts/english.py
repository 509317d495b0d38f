"""English: where a statement may begin, who its subject is, what is a command, a correction, a question.

A statement counts only where a clause begins with its subject, so that `he said I live in …` never matches.
"""

import re
from typing import Final

from actormem.core.facts.nouns_en import BARE, NOUNS
from actormem.core.facts.rules import Language
from actormem.core.facts.rules_en import ADVERBS, BEHIND_EMPLOYER, DIETS, LANGUAGES, PAYMENTS, PREDICATES
from actormem.core.facts.wishes_en import WISHES

__all__ = ["ENGLISH"]

BODY_CHARS_MAX: Final = 300
RELATIONS: Final = (
    "wife|husband|partner|girlfriend|boyfriend|fiancée?|fiancee|spouse|mother|mom|mum|mama|father|dad|"
    "papa|parents|son|daughter|kid|kids|child|children|baby|brother"
    "|sister|twin|friend|best friend|roommate|flatmate|boss|manager|colleague|coworker|co-worker|"
    "teammate|neighbou?r|grandmother|grandma|grandfather|grandpa"
    "|aunt|uncle|cousin|niece|nephew|mother-in-law|father-in-law|client|customer|teacher|doctor|"
    "assistant|dog|cat|guest"
)
SUBJECT: Final = re.compile(
    r"(?P<self>[Ii])(?=[\s'])(?:'ve(?=\s))?"
    + ADVERBS
    + r"|(?:[Mm]y|MY)\s+(?:(?:best|older|younger|elder|little|big|close|good|late|ex-?|"
    r"dear)\s*)?(?P<relation>"
    + RELATIONS
    + r")\b(?:,?\s+(?P<name>(?-i:[A-Z][a-z]+)\b))?,?(?P<owns>'s?\s+(?:(?:also|is)\s+)?)?"
    + ADVERBS
    + r"|(?P<mine>(?:and )?(?:my|our)\s+)",
    re.IGNORECASE,
)
GATE: Final = (
    " i ", " i'", "my ", " me ", "our ", "remember", "forget", "from now", "from today", "from here",
    "from this", "going forward", "henceforth", "future", "always", "never", " ever ", "note", "memori",
    "save", "store", "in mind", "budget", "meant", "it's", "it is", "make it", "make that", "should be",
    "i mean", "answer in", "reply in", "respond in", "speak", "talk in", "write in",
)  # fmt: skip
LEAD: Final = (
    r"(?:(?:hi|hello|hey|hiya|there|well|ok|okay|oh|yes|yeah|yep|yup|sure|actually|also|btw|by the way|"
    r"fyi|just so you know|so you know|just to let you know|for (?:the record|reference|context|your "
    r"information)"
    r"|anyway|right now|currently|these days|now|nowadays|sorry|honestly|in fact|besides|additionally|"
    r"as (?:i|you know)(?: said| mentioned| told you)?|i think|i forgot to mention|i should mention|and|"
    r"but|so|because|since|plus|also|you know"
    r"|good (?:morning|evening|afternoon)|personally|as of (?:today|now)|i changed my mind|changed my "
    r"mind|unfortunately|sadly|luckily|thanks|thank you|please)\b[\s,!:.-]{0,4}){0,4}"
)
STARTS: Final = re.compile(
    r"(?:^\s*|[,:(*\u2026]\s*|\s[-–—]+\s|\b(?:and|but|so|because|since|also|plus|as|though|although|btw|"
    r"that)\s(?=(?:I|I'm|i|i'm|my|My|live|lives|work|works|hate|hates|prefer|prefers|am|is|have|has|use|"
    r"uses|don't|do)\b)(?<!say that )(?<!wish that )(?<!think that )(?<!thinks that )(?<!said that "
    r")(?<!told me that )(?<!says that )(?<!like that )(?<!idea that ))"
    + r"(?:[-*•\d.)\s]{0,6})(?P<lead>"
    + LEAD
    + ")",
    re.IGNORECASE,
)
REMEMBER: Final = re.compile(
    r"(?:(?:please|pls|also|and|so|ok|okay)[ ,]+)*(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:(?:remember|make a note|take a note|memori[sz]e|(?P<forget>don't (?:ever )?forget))(?:(?:,? "
    r"(?:that|this|the following|the fact that|of this|for (?:later|me|next time)))*(?:\s*:\s*|"
    r"\s+that\s+)|,? (?=(?:my|our|I|I'm|i|i'm|we|(?(forget)(?!)|to)|no|not|never|always)\b))|(?:save|"
    r"store) (?:this|that|the following)(?: for (?:later|me|next time))?\s*:\s*"
    r"|(?P<soft>(?:note|keep in mind|bear in mind|be aware|take into account|consider|know|you should "
    r"know|let me tell you|i should (?:mention|note)|i forgot to (?:mention|say)) "
    r"that\s+))(?P<value>[^\x00]{2,400})",
    re.IGNORECASE,
)
HENCEFORTH: Final = re.compile(
    r"(?:(?:please|also|and|so|ok|okay)[ ,]+)*(?:(?:from (?:now on|here on(?: out)?|today(?: on)?|this "
    r"point (?:on|forward))|going forward|henceforth|in (?:the )?future,? please)[ "
    r",:]+(?P<value>[^\x00]{3,400})"
    r"|(?P<plain>(?:always|never|don't ever|do not ever) (?!give up)(?:answer|reply|"
    r"respond|use|speak|write|talk|"
    r"give|include|show|send|ask|check|format|keep|avoid|put|add|start|begin|explain|recommend|suggest|"
    r"book|choose|assume"
    r"|e-?mail|text|notify|tell|leave|deliver|pay|charge|pack|wrap|remind|mention|convert|round|cite|"
    r"provide|list|call|address|order|offer|propose|quote|"
    r"translate)\b[^\x00]{2,300})|(?P<last>[^,\x00]{5,200}?),? from now on\b)",
    re.IGNORECASE,
)
CORRECTION: Final = re.compile(
    r"(?:(?:no|nope|sorry|oops|wait|actually|correction|my mistake|my bad|i was wrong|that's wrong|"
    r"scratch that|i misspoke|i mistyped|typo|that's not right|not quite)[ ,.!:-]+){1,3}"
    r"(?:(?:it's|it is|it's now|i meant(?: to say)?|i mean|"
    r"that should be|it should be|should be|make (?:it|that)|let's (?:say|make it)|rather)[ "
    r",:]+)(?:actually |not (?P<old>.{1,40}?)(?:,? but|,) )?(?P<value>[^;!?\x00]{1,120})"
    r"|(?:i meant(?: to say)?|(?:make (?:it|that))) (?P<more>[^;!?\x00]{1,120})",
    re.IGNORECASE,
)
ASKING: Final = re.compile(
    r"(?:^|[,:]\s*|\s[-–—]\s|\b(?:and|but|so|then)\s+)(?:please )?(?:what|what's|how|how's|can|could|do|"
    r"does|did|is|are|am|was|which|where|where's|should|would|will|may|who|why|when|any|got|have you|"
    r"shall|might)\b",
    re.IGNORECASE,
)
UNFIT: Final = re.compile(
    r"(?:when|how|what|who|where|why|me\b|those|these|if|whether|last|the (?:time|day|days|first|last|"
    r"other|one|good|name)|us|back|him|her|them|it\b|i said|you|your|our (?:last|previous|chat|"
    r"conversation)|i'll|i will|i would|i'd (?!like you)|i might|we'll|we will|we\b|he|she|they|my "
    r"name$|everything|all|this)\b",
    re.IGNORECASE,
)
OWNED: Final = re.compile(r"(?:my|our)\b", re.IGNORECASE)
SAYS: Final = re.compile(
    r"\b(?:is|are|was|has|have|needs?|starts?|ends?|can|cannot|can't|will|must|should|likes?|goes|comes|"
    r"works?|lives?|wants?)\b|'s\s",
    re.IGNORECASE,
)


LANGUAGE: Final = re.compile(
    r"^(?:(?:to )?(?:always )?(?:please )?(?:use|speak|talk|chat|communicate|write|answer|repl|respon)\w*"
    r"(?: to me| me| with me)?(?: only)?(?: in)? )?" + LANGUAGES + r"$",
    re.IGNORECASE,
)
REPLY_LENGTH: Final = re.compile(
    r"\b(?:short|brief|concise|detailed|long|longer|shorter)\b.{0,20}\b(?:answers?|repl(?:y|ies)|responses?|"
    r"explanations?)\b",
    re.IGNORECASE,
)


def body(text: str) -> str:
    """The words of a command that are worth keeping, or an empty string."""
    value = re.sub(
        r"(?:[ ,]+(?:please|thanks|thank you|ok|okay|from now on))+$",
        "",
        text.strip(" ,.:'\"*-"),
        flags=re.IGNORECASE,
    )
    value = value[5:] if value[:5].casefold() == "that " else value
    if OWNED.match(value) and not SAYS.search(value):
        return ""
    return "" if UNFIT.match(value) or len(value) < 4 or len(value) > BODY_CHARS_MAX else value


def asks_from(sentence: str, asks: bool) -> int:
    """Where the asking part begins; past the end where nothing is asked."""
    asking = ASKING.search(sentence)
    if not asks:
        return len(sentence) if not asking or asking.start() else 0
    return asking.start() if asking else 0


def other(relation: str, name: str) -> str:
    return f"The user's {relation} {name}".rstrip()


ENGLISH: Final = Language(
    letters=re.compile(r"[A-Za-z]{2}"),
    gate=GATE,
    starts=STARTS,
    subject=SUBJECT,
    adverbs=re.compile(ADVERBS, re.IGNORECASE),
    predicates=PREDICATES,
    nouns=NOUNS,
    bare=BARE,
    behind_employer=BEHIND_EMPLOYER,
    remember=REMEMBER,
    henceforth=HENCEFORTH,
    correction=CORRECTION,
    asks_from=asks_from,
    body=body,
    own="The user",
    other=other,
    relations={
        "mom": "mother",
        "mum": "mother",
        "mama": "mother",
        "dad": "father",
        "papa": "father",
        "kid": "child",
        "kids": "children",
        "grandma": "grandmother",
        "grandpa": "grandfather",
        "coworker": "colleague",
        "co-worker": "colleague",
        "best friend": "friend",
        "flatmate": "roommate",
    },
    note="The user asked to remember: {value}",
    instruction="The user wants from now on: {value}",
    sorts=(
        (
            "seat",
            re.compile(
                r"\b(?:window|aisle|middle|front|exit row|bulkhead)\b.{0,12}\bseat|^(?:sitting )?(?:by |at |"
                r"on )?(?:the )?(?:window|aisle)\b(?: side)?$",
                re.IGNORECASE,
            ),
        ),
        (
            "payment",
            re.compile(r"\b(?:" + PAYMENTS + r")\b", re.IGNORECASE),
        ),
        (
            "delivery",
            re.compile(
                r"\b(?:home delivery|pick ?up|express|standard|next-day|same-day|overnight)\b.{0,10}(?:"
                r"shipping|delivery)?$|\bleft at the door\b|\bfront desk\b",
                re.IGNORECASE,
            ),
        ),
        ("language", LANGUAGE),
        ("diet", re.compile("^" + DIETS + "$", re.IGNORECASE)),
        ("reply_length", REPLY_LENGTH),
    ),
    habits=(
        ("language", LANGUAGE),
        ("reply_length", REPLY_LENGTH),
        (
            "payment",
            re.compile(
                r"^(?:(?:always|by default|please|just) )*(?:use|charge|bill|take|pay (?:with|by|via|using)) "
                r"(?:my |an? )?(?:" + PAYMENTS + r")(?: for (?:everything|all\b.*|payments?|my orders?))?$",
                re.IGNORECASE,
            ),
        ),
    ),
    pointing=re.compile(
        r"\b(?:there|here)\b(?! (?:is|are|was|were)\b)|\bto (?:the|this|that|my) (?:new )?(?:address|place|"
        r"one|"
        r"flat|house)\b",
        re.IGNORECASE,
    ),
    clauses=re.compile(r"[,;:]\s*|\s[-–—]+\s|\s(?=(?:and|but|so|then)\s)"),
    wishes=WISHES,
    preferred="{who} prefers {value}",
)
