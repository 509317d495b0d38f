"""What English speakers state with a noun: `my budget is …`, `change my address to …`, `call me …`."""

from typing import Final

from actormem.core.facts.readers_en import anything, capital_name, items, name, phrase, place, proper, tastes
from actormem.core.facts.rules import age, amount, dated, email, one_of, phone
from actormem.core.facts.rules_en import LANGUAGES, MONTHS, RAW, WORK, rule
from actormem.core.facts.wishes_en import CHANNEL

__all__ = ["BARE", "NOUNS"]

IS: Final = (
    r"(?: (?:is|are|was (?:just )?(?:changed|increased|raised|reduced|updated|set|cut) to|has (?:just "
    r")?(?:changed|been (?:changed|raised|increased|reduced|updated)) to|changed to|changes to|went up "
    r"to|will be|would be|(?:has )?(?:just )?changed,? (?:and )?(?:now )?(?:it is|it's|the new one is)"
    r")|'s|:)(?: (?:now|actually|currently|just|still|about|around|roughly|"
    r"approximately|only|set at|set to|called|at))*:? "
)
NEW: Final = (
    r"(?:(?:new|current|full|real|home|main|primary|personal|preferred|correct|actual|own|total|"
    r"max(?:imum)?|work|first|last) )?"
)
HEIGHT: Final = (
    r"(?P<value>\d+(?:\.\d+)?(?:'\s?\d{1,2}(?:\.\d)?(?:\"|'')?| ?(?:cm|centimet(?:er|re)s?|m|met(?:er|re)s?|"
    r"feet|foot|ft|inches|in)\b(?: ?\d{1,2}(?:\.\d)?(?: ?(?:inches|inch|in)\b)?)?)?)"
)
WEIGHT: Final = (
    r"(?P<value>\d[\d.\u066c]*(?<!\.)(?: ?(?:-|to) ?\d[\d.]*(?<!\.))?(?: ?(?:kgs?|kilos?|kilograms?|lbs?|"
    r"pounds?|"
    r"stones?)\b(?: \d{1,2}\b)?)?)"
)
NOUNS: Final = (
    rule(
        NEW + r"name(?:(?:'s| is)(?: actually| just)?|:) (?!is\b)" + RAW,
        "name", "{who}'s name is {value}", name,
    ),
    rule(r"(?:nickname|preferred name)" + IS + RAW, "nickname", "{who} likes to be called {value}", name),
    rule(
        NEW + r"(?:shipping|delivery) address" + IS + RAW,
        "shipping_address", "{who}'s shipping address is {value}", place,
    ),
    rule(
        NEW + r"(?:address|mailing address|street address)" + r" is no longer " + RAW,
        "address", "{who} no longer lives in {value}", place, negated=True,
    ),
    rule(
        NEW + r"(?:address|mailing address|street address)" + IS + RAW,
        "address", "{who}'s address is {value}", place,
    ),
    rule(
        NEW +
        r"(?:(?:cell ?|mobile |tele)?phone(?: number)?|cell(?: number)?|mobile(?: number)?|number|"
        r"contact number)" + IS + r"(?P<value>[^;:!?\x00]{7,40})",
        "phone", "{who}'s phone number is {value}", phone,
    ),
    rule(
        NEW + r"(?:e-?mail(?: address| id)?|address)" + IS + r"(?P<value>[^\s;,!?\x00]{5,200})",
        "email", "{who}'s e-mail address is {value}", email,
    ),
    rule(
        NEW + r"budget(?: for [\w' -]{1,40}?| per [\w]{1,10})?" + IS + r"(?P<value>[^;:!?()\x00]{1,60})",
        "budget", "{who}'s budget is {value}", amount,
    ),
    rule(
        r"(?:birthday|birthdate|date of birth)" + IS +
        r"(?:on |in )?(?P<value>[^;:!?()\x00]{0,12}(?:\d|" + MONTHS + r")[^;:!?()\x00]{0,24})",
        "birthday", "{who}'s birthday is {value}", dated,
    ),
    rule(
        r"(?:(?:preferred|favou?rite|best) )?(?:contact (?:method|channel|preference)|method of contact|"
        r"way (?:to be|of being) contacted)" + IS + r"(?:by |via )?(?P<value>" + CHANNEL + r")",
        "contact_preference", "{who} wants to be contacted by {value}", one_of(CHANNEL),
    ),
    rule(r"age" + IS + r"(?P<value>\d{1,3})\b", "age", "{who} is {value} years old", age),
    rule(
        r"(?:current )?(?:job|occupation|profession|job title)" + IS +
        r"(?:an? |as an? )?(?P<value>[\w -]{0,30}(?:" + WORK + r"))\b",
        "job", "{who} is {value}", phrase,
    ),
    rule(r"(?:current )?(?:employer|company)" + IS + RAW, "employer", "{who} works at {value}", proper),
    rule(
        r"favou?rite (?P<thing>[a-z]+(?: [a-z]+)?)" + IS + RAW,
        "favorite", "{who}'s favorite {thing} is {value}", phrase,
    ),
    rule(
        r"hobb(?:y|ies)(?: (?:is|are|include|includes))(?: also)? " + RAW,
        "likes", "{who} likes {value}", tastes,
    ),
    rule(
        r"(?:native|first|mother|preferred) (?:language|tongue)" + IS + r"(?P<value>" + LANGUAGES + r")",
        "language", "{who}'s language is {value}", anything,
    ),
    rule(
        r"blood (?:type|group)" + IS + r"(?P<value>(?:AB|A|B|O)(?:[+-]| positive| negative)?)",
        "blood_type", "{who}'s blood type is {value}", anything,
    ),
    rule(
        r"shoe size" + IS + r"(?P<value>(?:US |EU |UK )?\d{1,2}(?:\.5)?(?: ?(?:-|to|or) ?\d{1,2}(?:\.5)?)?)",
        "shoe_size", "{who} wears shoes in size {value}", anything,
    ),
    rule(
        r"(?:shirt |clothing |dress |pants |t-?shirt )?size" + IS +
        r"(?:an? )?(?P<value>XX?S|S|M|L|X{1,3}L|small|medium|large|\d{1,2})\b",
        "size", "{who} wears size {value}", anything,
    ),
    rule(r"height" + IS + HEIGHT, "height", "{who}'s height is {value}", one_of(".+")),
    rule(r"weight" + IS + WEIGHT, "weight", "{who}'s weight is {value}", anything),
    rule(
        r"time ?zone" + IS + r"(?P<value>[A-Za-z][\w/+:-]{1,30})",
        "timezone", "{who}'s time zone is {value}", anything,
    ),
    rule(
        r"(?:main |ultimate |long-term )?goal(?: for [\w ]{1,30}?)? is (?:to )?" + RAW,
        "goal", "{who}'s goal is {value}", phrase,
    ),
    rule(
        r"(?P<thing>passport|membership|member|frequent flyer|loyalty|licen[cs]e|license plate|customer|"
        r"student|employee|account) (?:number|id|no)" + IS + r"(?P<value>[\w-]{3,30})",
        "number", "{who}'s {thing} number is {value}", one_of(r"[\w-]*\d[\w-]*"),
    ),
    rule(r"allergies (?:are|include) " + RAW, "allergy", "{who} is allergic to {value}", items),
    rule(r"seat(?:ing)? preference" + IS + RAW, "seat", "{who} prefers {value}", phrase),
)  # fmt: skip
NOT_CALLED: Final = (
    r"(?:back|later|when|if|at|on|a|an|the|tomorrow|crazy|tonight|in|by|for|any ?time|and|to|up|out|with|"
    r"please|any|instead|again|asap|soon|now|once|before|after|whenever|about|only|first|directly|right|this|"
    r"that|every|during|via|over|through|using|from|until|unless|because|since|so|but|or|my|ever|more|"
    r"names|today|immediately|rather|thanks|regarding|it|anything|whatever|or)\b"
)
BARE: Final = (
    rule(
        r"(?:please |you can |just |do |but |always )*(?:call|address) me (?:as )?(?!" + NOT_CALLED + ")"
        + RAW,
        "nickname", "{who} wants to be called {value}", name,
        gate=("call", "address me"),
    ),
    rule(
        r"(?:please )?(?:don't|do not|never|stop) call(?:ing)? me (?!" + NOT_CALLED
        + r")(?P<value>[^;:!?()\x00]{1,40})",
        "nickname", "{who} no longer wants to be called {value}", name, negated=True,
        gate=("call", "address me"),
    ),
    rule(
        r"(?:everyone|everybody|people|most people|(?:all )?my friends|friends)(?: all| just| usually|"
        r" mostly)? "
        r"calls? me (?!" + NOT_CALLED + ")" + RAW,
        "nickname", "{who} is called {value}", capital_name,
        gate=("call", "address me"),
    ),
    rule(
        r"(?P<value>(?:always )?(?:answer|reply|respond|speak|talk|write)(?: (?:to me|me|"
        r"back))?(?: only)?(?: in)? "
        + LANGUAGES + r")(?=(?: (?:only|please|always|from now on))*\s*(?:$|,))",
        "language", "{who} wants from now on: {value}", anything,
        gate=("answer", "reply", "respond", "speak", "talk", "write"),
    ),
    rule(
        r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my (?:shipping|delivery) "
        r"address to " + RAW,
        "shipping_address", "{who}'s shipping address is {value}", place,
        gate=("address",),
    ),
    rule(
        r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my (?:home )?address to "
        + RAW,
        "address", "{who}'s address is {value}", place,
        gate=("address",),
    ),
    rule(
        r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my e-?mail(?: address)? "
        r"to (?P<value>[^\s;,!?\x00]{5,200})",
        "email", "{who}'s e-mail address is {value}", email,
        gate=("mail",),
    ),
    rule(
        r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my phone(?: number)? to "
        r"(?P<value>[^;:!?\x00]{7,40})",
        "phone", "{who}'s phone number is {value}", phone,
        gate=("phone",),
    ),
    rule(
        r"(?:please |can you |could you |let's )?(?:change|update|set|correct|raise|increase|lower|"
        r"reduce) (?:my|the|our) budget (?:to|at) (?P<value>[^;:!?()\x00]{1,60})",
        "budget", "{who}'s budget is {value}", amount,
        gate=("budget",),
    ),
    rule(
        r"(?:(?:my|our|the|with an?|on an?|i have an?) )?budget(?: (?:is|of|around|now|was raised to|up "
        r"to)|:|'s)+(?: (?:about|around|now|roughly|approximately))* "
        r"(?P<value>[^;:!?()\x00]{0,30}\d[^;:!?()\x00]{0,40})",
        "budget", "{who}'s budget is {value}", amount,
        gate=("budget",),
    ),
    rule(
        r"(?:hi|hello|hey|hiya|good morning|good evening|good afternoon)(?: there| all| everyone| "
        r"team)?[ ,!]+(?:I'm|I am|this is|it's) (?P<value>[^;:!?()\x00]{1,60})",
        "name", "{who}'s name is {value}", capital_name,
    ),
)  # fmt: skip
