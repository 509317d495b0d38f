"""The rules of English: `I live in …`, `my budget is …`, `remember that …`, `no longer …`.

A statement counts only where a clause begins with its subject, so that `he said I live in …` or `imagine I …` never match.
"""

import re
from typing import Final

from actormem.core.rules import Language, Reader, Rule, age, amount, dated, email, one_of, phone

__all__ = ["ENGLISH"]

PHRASE_WORDS_MAX: Final = 9  # longer is a story, not a value
ITEM_WORDS_MAX: Final = 5
PHRASE_CHARS_MAX: Final = 80
BODY_CHARS_MAX: Final = 300

RAW: Final = r"(?P<value>[^;:!?()\x00]{1,160})"
ADVERBS: Final = (
    r"(?:\s+(?:also|actually|really|currently|now|still|just|always|usually|generally|typically|normally|mostly|often|personally|recently|definitely"
    r"|absolutely|both|only|so|very|quite|pretty|truly|especially|particularly|do|does|have|has|finally|officially|already|even|generally|much|strongly|sometimes)(?=\s)){0,3}"
)
BE: Final = r"(?:'m|'s|\s+am|\s+is|\s+are)" + ADVERBS
HAVE: Final = r"(?:'ve got|\s+(?:have|has|own|owns|'ve got|got|have got|has got|adopted))"
LONGER: Final = r"\b(?:any ?more|any longer)\b"
NOT: Final = r"\s+(?:don't|do not|doesn't|does not|no longer|never)" + ADVERBS
RELATIONS: Final = (
    "wife|husband|partner|girlfriend|boyfriend|fiancée?|fiancee|spouse|mother|mom|mum|mama|father|dad|papa|parents|son|daughter|kid|kids|child|children|baby|brother"
    "|sister|twin|friend|best friend|roommate|flatmate|boss|manager|colleague|coworker|co-worker|teammate|neighbou?r|grandmother|grandma|grandfather|grandpa"
    "|aunt|uncle|cousin|niece|nephew|mother-in-law|father-in-law|client|customer|teacher|doctor|assistant|dog|cat|guest"
)
ANIMALS: Final = (
    r"(?:dog|puppy|puppie|cat|kitten|parrot|rabbit|bunny|hamster|turtle|tortoise|fish|goldfish|snake|lizard|horse|bird|canary|guinea pig|ferret|retriever|poodle|corgi|labrador|husky"
    r"|beagle|bulldog|terrier|dachshund|chihuahua|shepherd|gecko)"
)
CUT: Final = re.compile(
    r"\s(?:and|or|plus)\s+(?=(?:I|I'm|i'm|I've|my|we|you|it|it's|please|can|could|what|how|that|this|so|then|also|not|they|he|she|there|live|lives|work|works|love|loves|like|likes|hate|hates"
    r"|prefer|prefers|use|uses|have|has|am|is|was|would|will|do|don't|doesn't|need|want|never|always|hoping|looking|trying|wondering|would|I'd|i|was|were|just|thinking)\b)"
    r"|\s(?:but|because|cause|so|since|which|who|when|whenever|while|though|although|if|unless|as|until|before|after|where|whereas|these days|nowadays|right now|now|currently|at the moment"
    r"|for now|anymore|any more|any longer|too|as well|please|thanks|thank you|by the way|btw|lol|haha|instead|again|lately|recently|already|actually|honestly|anyway|today|and so|at all|from now on)\b"
    r"|\s[-–—]+\s|\x00|\n",
)
VAGUE: Final = re.compile(
    r"(?:it|it's|that|that's|this|these|those|them|they|him|her|his|he|she|us|you|your|yours|you're|how|what|what's|when|where|why|who|whether|if|as|to be|being|doing so|so|and|or|but|not|such|one|ones"
    r"|something|anything|everything|nothing|things?|stuff|someone|people|i|i'm|i'd|i've|my|me|we|our|its|their|there|here|at|with|for|of|is|are|was|can|could|please|thanks|thank|the (?:idea|fact|way|sound|look|part|suggestion|thought|vibe|energy|feeling|concept|one|first|second|last|option)"
    r"|seeing|hearing|knowing|more|most|less|same|any|some of|all of|none|about|much|very|too|really|also|just|no|yes|ok|okay|hi|hello|have|has|do|does|did|will|would|should|let|lets|let's|which|because|then|than|both of|either|an? (?:lot|bit|good|great|nice)\b|know|think|see|say|feel|guess|hope|wish|mean|need|want|sorry|right)\b",
    re.IGNORECASE,
)
ARTICLE: Final = re.compile(r"(?:a|an|the|some|any|both|all|eating|having)\s+(?=\S)", re.IGNORECASE)
SPLIT: Final = re.compile(r"\s*,\s*(?:and|or|&)\s+|\s*,\s*|\s+(?:and|or|&|as well as)\s+", re.IGNORECASE)
PAIRS: Final = re.compile(
    r"\b(?:mac and cheese|macaroni and cheese|salt and pepper|rock and roll|fish and chips|black and white|bed and breakfast|arts and crafts|peanut butter and jelly|r&b|science and technology|peace and quiet)\b",
    re.IGNORECASE,
)
PROPER: Final = re.compile(r"(?:the\s+)?[A-Z0-9][\w.&'+-]*(?:\s+(?:(?:of|the|and|&|de|la|van|for)\s+)?[A-Z0-9][\w.&'+-]*){0,5}|[\u4e00-\u9fff·]{2,20}")
NAME: Final = re.compile(r"[A-Z\u00c0-\u00de][\w'-]*\.?(?:\s+(?:(?:de|van|von|der|la|bin|al)\s+)?[A-Z\u00c0-\u00de][\w'-]*\.?){0,3}|[\u4e00-\u9fff·]{2,10}")
PLAIN_NAME: Final = re.compile(r"[a-z][a-z'-]{1,20}$")
NOT_NAMES: Final = re.compile(
    r"(?:not|a|an|the|on|in|at|too|so|very|also|used|being|back|later|tomorrow|tonight|today|when|if|as|crazy|maybe|and|or|spelled|hard|unique|common|long|short|important|private|secret|just|what|that|this"
    r"|it|I|I'm|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Sorry|Sure|Not|From|Going|Looking|Interested|Curious|Here|New|Just|Trying|American|British|Chinese|German|French|Indian|Canadian"
    r"|Italian|Spanish|Japanese|Christian|Catholic|Muslim|Jewish|OK|Okay|Good|Great|Fine|Ready|So|In|On|At|The|A|An|Also|Excited|Glad|Happy|Working|Writing|Planning|Thinking|Having|Wondering|Hoping|Back|Still|Calling|Reaching|Very)$",
)  # fmt: skip


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
        long = len(value.split()) > (ITEM_WORDS_MAX if found else PHRASE_WORDS_MAX) or len(value) > PHRASE_CHARS_MAX
        if not value or long or VAGUE.match(value):
            break
        found.append(value)
    return tuple(found)


def proper(text: str) -> tuple[str, ...]:
    """A name of an organisation, a place or a product: the run of words with capitals."""
    match = PROPER.match(text.lstrip())
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


def capital_name(text: str) -> tuple[str, ...]:
    """A person's name that begins with a capital."""
    match = NAME.match(text.strip(" '\"*"))
    return (match[0].rstrip("."),) if match and not NOT_NAMES.match(match[0].split()[0]) else ()


PLACE_PART: Final = re.compile(r"\s*(?:[A-Z0-9#][\w.'#/-]*)(?:\s+[A-Z0-9#][\w.'#/-]*){0,4}$")
NOT_PLACE: Final = re.compile(
    r"(?:fear|peace|harmony|hope|denial|a bubble|the moment|the past|the present|the future|constant|here|there|this|that|an? (?:\w+ )?(?:world|society|hotel|state)|my|it|him|her|them|you|the (?:next|other|same|new|top|bottom|end|point|question|city cent\w+)"
    r"|next|another|using|a (?:new|different|bigger|smaller|better)|stage|step|phase|[a-z]+ing)\b",
)
PLACE_TAIL: Final = re.compile(
    r"\s(?:with|for|since|in (?:19|20)\d\d|last|this|next|about|over|near|ago|a (?:few|couple)|two|three|\d+ (?:years?|months?|weeks?)|alone|together|from|to be|to start|and it|full-?time|permanently|temporarily|soon|on (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w+)\b.*$",
)


def place(text: str) -> tuple[str, ...]:
    """A city or a street address, with the parts after its commas."""
    first, *rest = cut(text).split(",")
    value = PLACE_TAIL.sub("", first).rstrip(" .'")
    if not value or NOT_PLACE.match(value) or len(value.split()) > PHRASE_WORDS_MAX:
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


WORK: Final = (
    r"engineer|developer|programmer|teacher|nurse|doctor|lawyer|attorney|student|designer|manager|accountant|architect|consultant|analyst|scientist|researcher|writer|author|journalist|editor|photographer"
    r"|artist|musician|chef|cook|barista|waiter|waitress|pilot|driver|mechanic|electrician|plumber|carpenter|dentist|pharmacist|veterinarian|vet|therapist|psychologist|counselor|social worker|professor"
    r"|lecturer|librarian|firefighter|paramedic|police officer|salesperson|realtor|translator|interpreter|entrepreneur|freelancer|founder|CEO|CTO|director|producer|actor|actress|model|tutor|coach|trainer|banker"
    r"|farmer|florist|tailor|economist|physicist|chemist|biologist|mathematician|statistician|technician|administrator|secretary|receptionist|marketer|recruiter|surgeon|physician|colorist|filmmaker|blogger"
)
DIETS: Final = r"(?:vegan|vegetarian|pescatarian|pescetarian|flexitarian|gluten[- ]free|dairy[- ]free|halal|kosher|keto|ketogenic|paleo|low[- ]carb|plant[- ]based)"
ILLS: Final = (
    r"(?:type [12] )?diabet\w+|asthma|high blood pressure|hypertension|epilepsy|celiac(?: disease)?|coeliac(?: disease)?|arthritis|migraines?|depression|anxiety|insomnia|ADHD|autism|dyslexia|eczema"
    r"|heart (?:disease|condition)|lactose intoleran\w+|IBS|Crohn'?s(?: disease)?|cancer|anemia|high cholesterol|a pacemaker|sleep apnea|a bad (?:back|knee)"
)
LANGUAGES: Final = r"(?:English|Chinese|Mandarin|Cantonese|French|German|Spanish|Portuguese|Italian|Japanese|Korean|Russian|Arabic|Hindi|Dutch|Swedish|Polish|Turkish|Vietnamese|Thai|Ukrainian|Greek|Hebrew)"
MONTHS: Final = r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"


def rule(pattern: str, attribute: str, text: str, read: Reader, *, negated: bool = False) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), attribute, text, read, negated)


def anything(text: str) -> tuple[str, ...]:
    return (cut(text.split(",", 1)[0]),) if cut(text.split(",", 1)[0]) else ()


PREDICATES: Final = (
    rule(r"(?:'m|'s|\s+am|\s+is)\s+(?:no longer|not)" + ADVERBS + r"\s+allergic to " + RAW, "allergy", "{who} is not allergic to {value}", items, negated=True),
    rule(BE + r"(?:\s+(?:severely|highly|deathly|badly|mildly|extremely|terribly|slightly))?\s+allergic to " + RAW, "allergy", "{who} is allergic to {value}", items),
    rule(r"\s+(?:have|has|'ve got|suffer from) (?:an? )?(?:(?:severe|serious|bad|mild|life-threatening|strong) )?(?P<value>[a-z]+(?: [a-z]+)?) allerg(?:y|ies)\b", "allergy", "{who} is allergic to {value}", items),
    rule(r"\s+(?:have|has) (?:an? )?(?:(?:severe|serious|bad|mild) )?allerg(?:y|ies) to " + RAW, "allergy", "{who} is allergic to {value}", items),
    rule(r"\s+(?:moved|relocated) (?:from|out of|away from) (?!.{1,60}\bto\b)" + RAW, "address", "{who} no longer lives in {value}", place, negated=True),
    rule(r"\s+(?:moved|relocated)(?: (?:back|over|again))? (?:from [^,;:!?()\x00]{1,60}? )?to " + RAW, "address", "{who} lives in {value}", place),
    rule(r"(?:" + NOT + r"|\s+am not|'m not|\s+is not|\s+am no longer|'m no longer)\s+(?:live|lives|living|based|reside) (?:in|at|on) " + RAW, "address", "{who} no longer lives in {value}", place, negated=True),
    rule(r"(?:" + BE + r"\s+(?:living|based|residing|located)|\s+(?:live|lives|reside|resides|stay(?=\s+at \d)))(?: (?:near|out|down|up))? (?P<thing>in|at|on) " + RAW, "address", "{who} lives {thing} {value}", place),
    rule(r"(?:" + NOT + r"|\s+am no longer|'m no longer|'m not|\s+am not)\s+(?:work|works|working|employed) (?:at|for|with) " + RAW, "employer", "{who} no longer works at {value}", proper, negated=True),
    rule(r"\s+(?:quit|resigned|left my job|lost my job|got laid off)\b(?: my job| from my job)?(?P<value>)", "employer", "{who} left the former job", lambda _: ("",), negated=True),
    rule(r"(?:" + BE + r"\s+(?:working|employed)|\s+(?:work|works|started working|started))(?: (?:as an? |full[- ]time|part[- ]time|remotely)[\w -]{0,40}?)? (?:at|for|with|by) (?:an? )?" + RAW, "employer", "{who} works at {value}", proper),
    rule(BE + r"\s+no longer (?:an? )?(?P<value>" + DIETS + r")\b|(?:'m|\s+am|\s+is) not (?:an? )?(?P<more>" + DIETS + r")\b", "diet", "{who} is no longer {value}", one_of(DIETS), negated=True),
    rule(r"(?:" + BE + r"|\s+(?:become|became|turned|went|gone|follow|eat|am on|stick to))(?: (?:an?|on an?))?(?: (?:strict|strictly|lifelong|mostly))? (?P<value>" + DIETS + r")\b(?! (?:restaurants?|recipes?|options?|food|dishes|place))", "diet", "{who} is {value}", one_of(DIETS)),
    rule(BE + r"\s+(?:an? )?(?:[\w-]+ ){0,3}?(?P<value>(?:[\w-]+ ){0,2}(?:" + WORK + r"))\b(?! (?:by|in the making))", "job", "{who} is {value}", phrase),
    rule(r"(?:" + BE + r"\s+working|\s+(?:work|works|started working)) as (?:an? |the )?(?P<value>[\w -]{3,50}?)(?= (?:at|for|in|with|and)\b|[,.;]|$)", "job", "{who} is {value}", phrase),
    rule(NOT + r"\s+(?:eat|eats|drink|drinks|consume) " + RAW, "avoids", "{who} does not have {value}", items),
    rule(r"\s+(?:can't|cannot|can not|avoid|avoids) (?:eat|have|drink|eating|drinking|tolerate) " + RAW, "avoids", "{who} does not have {value}", items),
    rule(r"\s+(?:no longer|stopped|quit)" + ADVERBS + r"\s+(?:like|likes|love|loves|enjoy|enjoys|liking) " + RAW, "likes", "{who} no longer likes {value}", items, negated=True),
    rule(r"\s+(?:don't|do not|doesn't|does not)" + ADVERBS + r"\s+(?:like|love|enjoy|care for)(?: to)? (?P<value>[^;:!?()\x00]{1,120}?)\s+" + LONGER, "likes", "{who} no longer likes {value}", items, negated=True),
    rule(r"(?:\s+(?:don't|do not|doesn't|does not)" + ADVERBS + r"\s+(?:like|love|enjoy|care for)|\s+(?:hate|hates|dislike|dislikes|can't stand|cannot stand|detest|despise|loathe)) " + RAW, "dislikes", "{who} dislikes {value}", items),
    rule(r"(?:\s+no longer prefers?|\s+(?:don't|do not) prefer) (?P<value>[^;:!?()\x00]{1,120}?)(?:\s+" + LONGER + r"|$)", "preference", "{who} no longer prefers {value}", phrase, negated=True),
    rule(r"\s+(?:prefer|prefers|preferred(?= .{1,40} now)|favou?r)(?: to have| to get)? " + RAW, "preference", "{who} prefers {value}", phrase),
    rule(r"(?:\s+(?:like|likes|love|loves|enjoy|enjoys|adore|adores)|" + BE + r"\s+(?:into|fond of|passionate about|an? (?:big |huge |massive )?(?:fan|lover) of)) " + RAW, "likes", "{who} likes {value}", items),
    rule(BE + r"\s+(?:called|named) " + RAW + r"|\s+goe?s? by (?P<more>[^,;:!?()\x00]{1,40})", "name", "{who}'s name is {value}", name),
    rule(r"\s+(?:was|were) born (?:on|in) (?P<value>[^;:!?()\x00]{0,12}(?:\d|" + MONTHS + r")[^;:!?()\x00]{0,20})", "birthday", "{who} was born on {value}", dated),
    rule(r"(?:'m|'s|\s+am|\s+is|\s+just turned|\s+turned)(?: (?:now|already|just))? (?P<value>\d{1,3})(?: years? old|(?=\s*(?:,|$| and\b))(?<=\d\d))", "age", "{who} is {value} years old", age),
    rule(HAVE + r" (?P<value>(?:an?|one|two|three|four|five|six|\d) (?:[\w-]+ ){0,2}?(?:son|daughter|kid|child|children|brother|sister|sibling|grandchild|grandchildren|twin|grandson|granddaughter)s?(?: (?:named|called) [A-Z][\w'-]+(?:(?:,| and|, and) [A-Z][\w'-]+){0,3})?)\b", "family", "{who} has {value}", anything),
    rule(HAVE + r"(?: (?:an?|one|two|three|four|five|\d|several))? (?P<value>(?:(?!and\b|to\b|the\b|my\b|with\b)[\w-]+ ){0,3}?" + ANIMALS + r"s?(?: (?:named|called) [A-Z][\w'-]+(?:(?:,| and|, and) [A-Z][\w'-]+){0,3})?)\b(?! (?:allerg\w+|person|food|owner|theme|sitter|bed|toy)\b)", "pet", "{who} has {value} as a pet", phrase),
    rule(BE + r"\s+(?P<value>married|divorced|engaged|widowed|single)\b(?! (?:mode|out|to (?:the|this|my (?:job|work))|with|in|by|page|thread))", "marital_status", "{who} is {value}", one_of("married|divorced|engaged|widowed|single")),
    rule(r"\s+(?:have|has|'ve got|suffer from|suffers from|live with|struggle with) (?P<value>" + ILLS + r")\b", "condition", "{who} has {value}", anything),
    rule(r"(?:'ve been|\s+(?:was|have been|has been|got|am))" + ADVERBS + r"\s+diagnosed with " + RAW, "condition", "{who} was diagnosed with {value}", phrase),
    rule(BE + r"\s+(?P<value>pregnant|diabetic|asthmatic|lactose[- ]intolerant|gluten[- ]intolerant|colou?r-?blind|epileptic)\b", "condition", "{who} is {value}", anything),
    rule(r"\s+(?:speak|speaks) (?:fluent |some |a little )?(?P<value>" + LANGUAGES + r"(?:(?:, | and |, and )(?:fluent |some )?" + LANGUAGES + r"){0,5})", "speaks", "{who} speaks {value}", items),
    rule(r"\s+(?:pay|pays|paying)(?: for \w+)? (?:with|by|via|using|in|through) " + RAW, "payment", "{who} pays with {value}", one_of(r"(?:my |an? )?(?:credit card|debit card|cash(?: on delivery)?|paypal|apple pay|google pay|alipay|wechat(?: pay)?|visa|mastercard|amex|bank transfer|invoice|gift card)")),
    rule(r"\s+(?:wear|wears|take|am|need)(?: an?)? (?:size )?(?P<value>\d{1,2}(?:\.5)?(?: (?:US|EU|UK))?)(?: in)? shoes?\b", "shoe_size", "{who} wears shoes in size {value}", anything),
    rule(r"\s+(?:wear|wears|take)(?: an?)? size (?P<value>XX?S|S|M|L|X{1,3}L|small|medium|large|\d{1,2})\b", "size", "{who} wears size {value}", anything),
    rule(r"(?:" + BE + r"(?: originally)?|\s+(?:come|comes)|\s+originally come) from " + RAW, "hometown", "{who} comes from {value}", proper),
    rule(r"(?:" + BE + r"\s+(?:studying|enrolled)|\s+(?:study|studies|go|goes))(?: [\w ]{0,40}?)? (?:at|to) (?P<value>(?:the )?(?:[A-Z][\w'-]* ){0,3}(?:University|College|School|Institute|MIT|Academy)[^;,:!?()\x00]{0,40})", "school", "{who} studies at {value}", proper),
    rule(r"\s+(?:no longer use|no longer uses|stopped using|don't use|do not use) " + RAW, "uses", "{who} no longer uses {value}", proper, negated=True),
    rule(r"(?:" + BE + r"\s+using|\s+(?:use|uses)|\s+(?:switched|changed)(?: over)? (?:from [^,;:!?()\x00]{1,60}? )?to) " + RAW, "uses", "{who} uses {value}", proper),
    rule(r"(?:'m|\s+am) (?:going|traveling|travelling|flying|moving|heading|driving) (?:to|on) (?P<value>[^;:!?()\x00]{2,60}?\b(?:on|next|this|in|tomorrow|tonight)\b[^;:!?(),\x00]{0,30})", "plan", "{who} is going to {value}", phrase),
    rule(r"\s+(?:have|has|'ve got) (?P<value>an? (?:[\w'-]+ ){0,3}?(?:appointment|interview|exam|flight|surgery|wedding|deadline|presentation|checkup)\b[^;:!?()\x00]{0,20}\b(?:on|at|next|this|tomorrow|tonight|today|in)\b[^;:!?(),\x00]{0,30})", "plan", "{who} has {value}", anything),
)  # fmt: skip
IS: Final = r"(?: (?:is|are|was (?:just )?(?:changed|increased|raised|reduced|updated|set|cut) to|has (?:just )?(?:changed|been (?:changed|raised|increased|reduced|updated)) to|changed to|changes to|went up to|will be|would be)|'s|:)(?: (?:now|actually|currently|just|still|about|around|roughly|approximately|only|set at|set to|called|at))*:? "
NEW: Final = r"(?:(?:new|current|full|real|home|main|primary|personal|preferred|correct|actual|own|total|max(?:imum)?|work|first|last) )?"
NOUNS: Final = (
    rule(NEW + r"name(?:(?:'s| is)(?: actually| just)?|:) (?!is\b)" + RAW, "name", "{who}'s name is {value}", name),
    rule(r"(?:nickname|preferred name)" + IS + RAW, "nickname", "{who} likes to be called {value}", name),
    rule(NEW + r"(?:shipping|delivery) address" + IS + RAW, "shipping_address", "{who}'s shipping address is {value}", place),
    rule(NEW + r"(?:address|mailing address|street address)" + r" is no longer " + RAW, "address", "{who} no longer lives in {value}", place, negated=True),
    rule(NEW + r"(?:address|mailing address|street address)" + IS + RAW, "address", "{who}'s address is {value}", place),
    rule(NEW + r"(?:(?:cell ?|mobile |tele)?phone(?: number)?|cell(?: number)?|mobile(?: number)?|number|contact number)" + IS + r"(?P<value>[^;:!?\x00]{7,40})", "phone", "{who}'s phone number is {value}", phone),
    rule(NEW + r"e-?mail(?: address| id)?" + IS + r"(?P<value>[^\s;,!?\x00]{5,200})", "email", "{who}'s e-mail address is {value}", email),
    rule(NEW + r"budget(?: for [\w' -]{1,40}?| per [\w]{1,10})?" + IS + r"(?P<value>[^;:!?()\x00]{1,60})", "budget", "{who}'s budget is {value}", amount),
    rule(r"(?:birthday|birthdate|date of birth)" + IS + r"(?:on |in )?(?P<value>[^;:!?()\x00]{0,12}(?:\d|" + MONTHS + r")[^;:!?()\x00]{0,24})", "birthday", "{who}'s birthday is {value}", dated),
    rule(r"age" + IS + r"(?P<value>\d{1,3})\b", "age", "{who} is {value} years old", age),
    rule(r"(?:current )?(?:job|occupation|profession|job title)" + IS + r"(?:an? |as an? )?(?P<value>[\w -]{0,30}(?:" + WORK + r"))\b", "job", "{who} is {value}", phrase),
    rule(r"(?:current )?(?:employer|company)" + IS + RAW, "employer", "{who} works at {value}", proper),
    rule(r"favou?rite (?P<thing>[a-z]+(?: [a-z]+)?)" + IS + RAW, "favorite", "{who}'s favorite {thing} is {value}", phrase),
    rule(r"hobb(?:y|ies)(?: (?:is|are|include|includes))(?: also)? " + RAW, "likes", "{who} likes {value}", items),
    rule(r"(?:native|first|mother|preferred) (?:language|tongue)" + IS + r"(?P<value>" + LANGUAGES + r")", "language", "{who}'s language is {value}", anything),
    rule(r"blood (?:type|group)" + IS + r"(?P<value>(?:AB|A|B|O)(?:[+-]| positive| negative)?)", "blood_type", "{who}'s blood type is {value}", anything),
    rule(r"shoe size" + IS + r"(?P<value>(?:US |EU |UK )?\d{1,2}(?:\.5)?)", "shoe_size", "{who} wears shoes in size {value}", anything),
    rule(r"(?:shirt |clothing |dress |pants |t-?shirt )?size" + IS + r"(?:an? )?(?P<value>XX?S|S|M|L|X{1,3}L|small|medium|large|\d{1,2})\b", "size", "{who} wears size {value}", anything),
    rule(r"height" + IS + r"(?P<value>\d[\w'\" .]{0,12})", "height", "{who}'s height is {value}", anything),
    rule(r"weight" + IS + r"(?P<value>\d[\w .]{0,12})", "weight", "{who}'s weight is {value}", anything),
    rule(r"time ?zone" + IS + r"(?P<value>[A-Za-z][\w/+:-]{1,30})", "timezone", "{who}'s time zone is {value}", anything),
    rule(r"(?:main |ultimate |long-term )?goal(?: for [\w ]{1,30}?)? is (?:to )?" + RAW, "goal", "{who}'s goal is {value}", phrase),
    rule(r"(?P<thing>passport|membership|member|frequent flyer|loyalty|licen[cs]e|license plate|customer|student|employee|account) (?:number|id|no)" + IS + r"(?P<value>[\w-]{3,30})", "number", "{who}'s {thing} number is {value}", one_of(r"[\w-]*\d[\w-]*")),
    rule(r"allergies (?:are|include) " + RAW, "allergy", "{who} is allergic to {value}", items),
    rule(r"seat(?:ing)? preference" + IS + RAW, "seat", "{who} prefers {value}", phrase),
)  # fmt: skip
BARE: Final = (
    rule(r"(?:please |you can |just |do |but )?(?:call|address) me (?!(?:back|later|when|if|at|on|a|an|the|tomorrow|crazy|tonight|in|by|by my|as|for|anytime|and|to|up|out|with)\b)" + RAW, "nickname", "{who} wants to be called {value}", name),
    rule(r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my (?:shipping|delivery) address to " + RAW, "shipping_address", "{who}'s shipping address is {value}", place),
    rule(r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my (?:home )?address to " + RAW, "address", "{who}'s address is {value}", place),
    rule(r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my e-?mail(?: address)? to (?P<value>[^\s;,!?\x00]{5,200})", "email", "{who}'s e-mail address is {value}", email),
    rule(r"(?:please |can you |could you )?(?:change|update|set|correct|switch) my phone(?: number)? to (?P<value>[^;:!?\x00]{7,40})", "phone", "{who}'s phone number is {value}", phone),
    rule(r"(?:please |can you |could you |let's )?(?:change|update|set|correct|raise|increase|lower|reduce) (?:my|the|our) budget (?:to|at) (?P<value>[^;:!?()\x00]{1,60})", "budget", "{who}'s budget is {value}", amount),
    rule(r"(?:(?:my|our|the|with an?|on an?|i have an?) )?budget(?: (?:is|of|around|now|was raised to|up to)|:|'s)+(?: (?:about|around|now|roughly|approximately))* (?P<value>[^;:!?()\x00]{0,30}\d[^;:!?()\x00]{0,40})", "budget", "{who}'s budget is {value}", amount),
    rule(r"(?:hi|hello|hey|hiya|good morning|good evening|good afternoon)(?: there| all| everyone| team)?[ ,!]+(?:I'm|I am|this is|it's) (?P<value>[^;:!?()\x00]{1,60})", "name", "{who}'s name is {value}", capital_name),
)  # fmt: skip
SUBJECT: Final = re.compile(
    r"(?P<self>[Ii])(?=[\s'])(?:'ve(?=\s))?" + ADVERBS + r"|(?:[Mm]y|MY)\s+(?:(?:best|older|younger|elder|little|big|close|good|late|ex-?|dear)\s*)?(?P<relation>" + RELATIONS + r")\b(?:,?\s+(?P<name>(?-i:[A-Z][a-z]+)\b))?,?(?P<owns>'s?\s+(?:(?:also|is)\s+)?)?" + ADVERBS +
    r"|(?P<mine>(?:and )?(?:my|our)\s+)",
    re.IGNORECASE,
)  # fmt: skip
GATE: Final = (
    " i ", " i'", "my ", " me ", "our ", "remember", "forget", "from now", "from today", "from here", "from this", "going forward", "henceforth", "future", "always", "never", " ever ", "note",
    "memori", "save", "store", "in mind", "budget", "meant", "it's", "it is", "make it", "make that", "should be", "i mean",
)  # fmt: skip
LEAD: Final = (
    r"(?:(?:hi|hello|hey|hiya|there|well|ok|okay|oh|yes|yeah|yep|yup|sure|actually|also|btw|by the way|fyi|just so you know|so you know|just to let you know|for (?:the record|reference|context|your information)"
    r"|anyway|right now|currently|these days|now|nowadays|sorry|honestly|in fact|besides|additionally|as (?:i|you know)(?: said| mentioned| told you)?|i think|i forgot to mention|i should mention|and|but|so|because|since|plus|also|you know"
    r"|good (?:morning|evening|afternoon)|personally|as of (?:today|now)|i changed my mind|changed my mind|unfortunately|sadly|luckily|thanks|thank you|please)\b[\s,!:.-]{0,4}){0,4}"
)
STARTS: Final = re.compile(
    r"(?:^\s*|[,:(*\u2026]\s*|\s[-–—]+\s|\b(?:and|but|so|because|since|also|plus|as|though|although|btw|that)\s(?=(?:I|I'm|i|i'm|my|My|live|lives|work|works|love|like|likes|hate|prefer|am|is|have|has|use|don't|do)\b)(?<!say that )(?<!wish that )(?<!think that )(?<!thinks that )(?<!said that )(?<!told me that )(?<!says that )(?<!like that )(?<!idea that ))"
    + r"(?:[-*•\d.)\s]{0,6})(?P<lead>" + LEAD + ")",
    re.IGNORECASE,
)  # fmt: skip
REMEMBER: Final = re.compile(
    r"(?:(?:please|pls|also|and|so|ok|okay)[ ,]+)*(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:(?:remember|don't (?:ever )?forget|make a note|take a note|memori[sz]e|save|store)(?:,? (?:that|this|the following|down|the fact that|of this|for (?:later|me|next time)))*(?:\s*[:,]\s*|\s+(?:that\s+)?)(?=\S)"
    r"|(?P<soft>(?:note|keep in mind|bear in mind|be aware|take into account|consider|know|you should know|let me tell you|i should (?:mention|note)|i forgot to (?:mention|say)) that\s+))(?P<value>[^\x00]{2,400})",
    re.IGNORECASE,
)
HENCEFORTH: Final = re.compile(
    r"(?:(?:please|also|and|so|ok|okay)[ ,]+)*(?:(?:from (?:now on|here on(?: out)?|today(?: on)?|this point (?:on|forward))|going forward|henceforth|in (?:the )?future,? please)[ ,:]+(?P<value>[^\x00]{3,400})"
    r"|(?P<plain>(?:always|never|don't ever|do not ever) (?:answer|reply|respond|use|speak|write|talk|give|include|show|send|ask|check|format|keep|avoid|put|add|start|begin|end|explain|recommend|suggest|book|choose|assume"
    r"|remind|mention|say|be|convert|round|cite|provide|list|call|address|order|offer|propose|quote|translate)\b[^\x00]{2,300})|(?P<last>[^,\x00]{5,200}?),? from now on\b)",
    re.IGNORECASE,
)
CORRECTION: Final = re.compile(
    r"(?:(?:no|nope|sorry|oops|wait|actually|correction|my mistake|my bad|i was wrong|that's wrong|that's not right|not quite)[ ,.!:-]+){1,3}(?:(?:it's|it is|it's now|i meant(?: to say)?|i mean|that should be|it should be|should be|make (?:it|that)|let's (?:say|make it)|rather)[ ,:]+)(?:actually |not .{1,40}(?:but|,) )?(?P<value>[^;!?\x00]{1,120})"
    r"|(?:i meant(?: to say)?|(?:make (?:it|that))) (?P<more>[^;!?\x00]{1,120})",
    re.IGNORECASE,
)
ASKING: Final = re.compile(
    r"(?:^|[,:]\s*|\s[-–—]\s|\b(?:and|but|so|then)\s+)(?:please )?(?:what|what's|how|how's|can|could|do|does|did|is|are|am|was|which|where|where's|should|would|will|may|who|why|when|any|got|have you|shall|might)\b",
    re.IGNORECASE,
)
UNFIT: Final = re.compile(
    r"(?:when|how|what|who|where|why|me\b|those|these|if|whether|last|the (?:time|day|days|first|last|other|one|good|name)|us|back|him|her|them|it\b|i said|you|your|our (?:last|previous|chat|conversation)|i'll|i will|i would|i'd (?!like you)|i might|we'll|we will|we\b|he|she|they|my name$|everything|all|this)\b",
    re.IGNORECASE,
)  # fmt: skip


def body(text: str) -> str:
    """The words of a command that are worth keeping, or an empty string."""
    value = re.sub(r"(?:[ ,]+(?:please|thanks|thank you|ok|okay|from now on))+$", "", text.strip(" ,.:'\"*-"), flags=re.IGNORECASE)
    value = value[5:] if value[:5].casefold() == "that " else value
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
    remember=REMEMBER,
    henceforth=HENCEFORTH,
    correction=CORRECTION,
    asks_from=asks_from,
    body=body,
    own="The user",
    other=other,
    relations={"mom": "mother", "mum": "mother", "mama": "mother", "dad": "father", "papa": "father", "kid": "child", "kids": "children", "grandma": "grandmother", "grandpa": "grandfather", "coworker": "colleague", "co-worker": "colleague", "best friend": "friend", "flatmate": "roommate"},
    note="The user asked to remember: {value}",
    instruction="The user wants from now on: {value}",
    sorts=(
        ("seat", re.compile(r"\b(?:window|aisle|middle|front|exit row|bulkhead)\b.{0,12}\bseat|^(?:sitting )?(?:by |at |on )?(?:the )?(?:window|aisle)\b(?: side)?$", re.IGNORECASE)),
        ("payment", re.compile(r"\b(?:credit cards?|debit cards?|cash|paypal|apple pay|google pay|alipay|wechat pay|bank transfer)\b", re.IGNORECASE)),
        ("delivery", re.compile(r"\b(?:home delivery|pick ?up|express|standard|next-day|same-day|overnight)\b.{0,10}(?:shipping|delivery)?$|\bleft at the door\b|\bfront desk\b", re.IGNORECASE)),
        ("language", re.compile(r"^(?:(?:to )?(?:always )?(?:please )?(?:use|speak|talk|chat|communicate|write|answer|repl|respon)\w*(?: to me| me| with me)?(?: only)?(?: in)? )?" + LANGUAGES + r"$", re.IGNORECASE)),
        ("reply_length", re.compile(r"\b(?:short|brief|concise|detailed|long|longer|shorter)\b.{0,20}\b(?:answers?|repl(?:y|ies)|responses?|explanations?)\b", re.IGNORECASE)),
    ),
    preferred="{who} prefers {value}",
)  # fmt: skip
