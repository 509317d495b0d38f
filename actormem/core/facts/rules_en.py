"""What English speakers state of themselves: `I live in …`, `I am allergic to …`, `I no longer …`.

Each rule is matched right after its subject and the adverbs; the first that gives a value wins, so that
reversals stand first.
"""

import re
from typing import Final

from actormem.core.facts.readers_en import anything, items, name, phrase, place, products, proper, tastes
from actormem.core.facts.rules import Reader, Rule, age, dated, one_of

__all__ = [
    "ADVERBS",
    "BEHIND_EMPLOYER",
    "DIETS",
    "LANGUAGES",
    "MONTHS",
    "PAYMENTS",
    "PREDICATES",
    "RAW",
    "WORK",
    "rule",
]

RAW: Final = r"(?P<value>[^;:!?()\x00]{1,160})"
ADVERBS: Final = (
    r"(?:\s+(?:also|actually|really|currently|now|still|just|always|usually|generally|typically|"
    r"normally|mostly|often|personally|recently|definitely"
    r"|absolutely|both|only|so|very|quite|pretty|truly|especially|particularly|do|does|have|has|finally|"
    r"officially|already|even|generally|much|strongly|sometimes)(?=\s)){0,3}"
)
BE: Final = r"(?:'m|'s|\s+am|\s+is|\s+are)" + ADVERBS
HAVE: Final = r"(?:'ve got|\s+(?:have|has|own|owns|'ve got|got|have got|has got|adopted))"
LONGER: Final = r"\b(?:any ?more|any longer)\b"
NOT: Final = r"\s+(?:don't|do not|doesn't|does not|no longer|never)" + ADVERBS
ANIMALS: Final = (
    r"(?:dog|puppy|puppie|cat|kitten|parrot|rabbit|bunny|hamster|turtle|tortoise|fish|goldfish|snake|"
    r"lizard|horse|bird|canary|guinea pig|ferret|retriever|poodle|corgi|labrador|husky"
    r"|beagle|bulldog|terrier|dachshund|chihuahua|shepherd|gecko)"
)
WORK: Final = (
    r"engineer|developer|programmer|teacher|nurse|doctor|lawyer|attorney|student|designer|manager|"
    r"accountant|architect|consultant|analyst|scientist|researcher|writer|author|journalist|editor|"
    r"photographer"
    r"|artist|musician|chef|cook|barista|waiter|waitress|pilot|driver|mechanic|electrician|plumber|"
    r"carpenter|dentist|pharmacist|veterinarian|vet|therapist|psychologist|counselor|social worker|"
    r"professor"
    r"|lecturer|librarian|firefighter|paramedic|police officer|salesperson|realtor|translator|"
    r"interpreter|entrepreneur|freelancer|founder|CEO|CTO|director|producer|actor|actress|model|tutor|"
    r"coach|trainer|banker"
    r"|farmer|florist|tailor|economist|physicist|chemist|biologist|mathematician|statistician|"
    r"technician|administrator|secretary|receptionist|marketer|recruiter|surgeon|physician|colorist|"
    r"filmmaker|blogger"
)
DIETS: Final = (
    r"(?:vegan|vegetarian|pescatarian|pescetarian|flexitarian|gluten[- ]free|dairy[- ]free|halal|kosher|"
    r"keto|ketogenic|paleo|low[- ]carb|plant[- ]based)"
)
ILLS: Final = (
    r"(?:type [12] )?diabet\w+|asthma|high blood pressure|hypertension|epilepsy|celiac(?: disease)?|"
    r"coeliac(?: disease)?|arthritis|migraines?|depression|anxiety|insomnia|ADHD|autism|dyslexia|eczema"
    r"|heart (?:disease|condition)|lactose intoleran\w+|IBS|Crohn'?s(?: disease)?|cancer|anemia|high "
    r"cholesterol|a pacemaker|sleep apnea|a bad (?:back|knee)"
)
LANGUAGES: Final = (
    r"(?:English|Chinese|Mandarin|Cantonese|French|German|Spanish|Portuguese|Italian|Japanese|Korean|"
    r"Russian|Arabic|Hindi|Dutch|Swedish|Polish|Turkish|Vietnamese|Thai|Ukrainian|Greek|Hebrew)"
)
PAYMENTS: Final = (
    r"credit cards?|debit cards?|cash(?: on delivery)?|paypal|apple pay|google pay|alipay|wechat pay|"
    r"bank transfers?|visa(?: card)?|mastercard|amex"
)
MONTHS: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|"
    r"Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)


def rule(
    pattern: str,
    attribute: str,
    text: str,
    read: Reader,
    *,
    negated: bool = False,
    gate: tuple[str, ...] = (),
) -> Rule:
    """A rule; its pattern is compiled without regard to case."""
    return Rule(re.compile(pattern, re.IGNORECASE), attribute, text, read, negated, gate)


PREDICATES: Final = (
    rule(
        r"(?:'m|'s|\s+am|\s+is)\s+(?:no longer|not)" + ADVERBS + r"\s+allergic to " + RAW,
        "allergy", "{who} is not allergic to {value}", items, negated=True,
    ),
    rule(
        BE +
        r"(?:\s+(?:severely|highly|deathly|badly|mildly|extremely|terribly|slightly))?\s+allergic to " +
        RAW,
        "allergy", "{who} is allergic to {value}", items,
    ),
    rule(
        r"\s+(?:have|has|'ve got|suffer from) (?:an? )?(?:(?:severe|serious|bad|mild|life-threatening|"
        r"strong) )?(?P<value>(?!an? allerg)[a-z]+(?: [a-z]+)?) allerg(?:y|ies)\b",
        "allergy", "{who} is allergic to {value}", items,
    ),
    rule(
        r"\s+(?:have|has) (?:an? )?(?:(?:severe|serious|bad|mild) )?allerg(?:y|ies) to " + RAW,
        "allergy", "{who} is allergic to {value}", items,
    ),
    rule(
        r"(?:" + NOT + r"|'m no longer|\s+am no longer)\s+(?:live|living) (?:there|here)(?P<value>)\b",
        "address", "{who} no longer lives there", lambda _: ("",), negated=True,
    ),
    rule(
        r"(?:" + NOT + r"|'m no longer|\s+am no longer)\s+(?:work|working) (?:there|here)(?P<value>)\b",
        "employer", "{who} no longer works there", lambda _: ("",), negated=True,
    ),
    rule(
        r"\s+(?:can (?:now )?|have started |started )?(?:eat|eating|drink|drinking) "
        r"(?P<value>[^,;:!?()\x00]{1,40}?) (?:again|now)(?=$|[,.;!])",
        "avoids", "{who} has {value} again", tastes, negated=True,
    ),
    rule(
        r"\s+(?:moved|relocated) (?:from|out of|away from) (?!.{1,60}\bto\b)" + RAW,
        "address", "{who} no longer lives in {value}", place, negated=True,
    ),
    rule(
        r"\s+(?:moved|relocated)(?: (?:back|over|again))? (?:from [^,;:!?()\x00]{1,60}? )?to " + RAW,
        "address", "{who} lives in {value}", place,
    ),
    rule(
        r"(?:" + NOT +
        r"|\s+am not|'m not|\s+is not|\s+am no longer|'m no longer)\s+(?:live|lives|living|based|"
        r"reside) (?:in|at|on) " + RAW,
        "address", "{who} no longer lives in {value}", place, negated=True,
    ),
    rule(
        r"(?:" + BE +
        r"\s+(?:living|based|residing|located)|\s+(?:live|lives|reside|resides|stay(?=\s+at \d)))(?: "
        r"(?:near|out|down|up))? (?P<thing>in|at|on) " + RAW,
        "address", "{who} lives {thing} {value}", place,
    ),
    rule(
        r"(?:" + NOT +
        r"|\s+am no longer|'m no longer|'m not|\s+am not)\s+(?:work|works|working|employed) (?:at|for|"
        r"with) " + RAW,
        "employer", "{who} no longer works at {value}", proper, negated=True,
    ),
    rule(
        r"\s+(?:quit my job|resigned|left my job|lost my job|got laid off)\b(?P<value>)",
        "employer", "{who} left the former job", lambda _: ("",), negated=True,
    ),
    rule(
        r"(?:" + BE +
        r"\s+(?:working|employed)|\s+(?:work|works|started working|started))(?: (?:as an? |full[- ]time|"
        r"part[- ]time|remotely)[\w -]{0,40}?)? (?:at|for|with|by) (?:an? )?" + RAW,
        "employer", "{who} works at {value}", proper,
    ),
    rule(
        BE + r"\s+no longer (?:an? )?(?P<value>" + DIETS +
        r")\b|(?:'m|\s+am|\s+is) not (?:an? )?(?P<more>" + DIETS + r")\b",
        "diet", "{who} is no longer {value}", one_of(DIETS), negated=True,
    ),
    rule(
        r"(?:" + BE +
        r"|\s+(?:become|became|turned|went|gone|follow|eat|am on|stick to))(?: (?:an?|on an?))?(?: "
        r"(?:strict|strictly|lifelong|mostly))? (?P<value>" + DIETS +
        r")\b(?! (?:restaurants?|recipes?|options?|food|dishes|place))",
        "diet", "{who} is {value}", one_of(DIETS),
    ),
    rule(
        BE + r"\s+(?:an?|the) (?P<value>(?:[\w-]+ ){0,2}(?:" + WORK + r"))\b(?! (?:by|in the making))",
        "job", "{who} is {value}", phrase,
    ),
    rule(
        r"(?:" + BE +
        r"\s+working|\s+(?:work|works|started working)) as (?:an? |the )?(?P<value>[\w -]{3,50}?)(?= "
        r"(?:at|for|in|with|and)\b|[,.;]|$)",
        "job", "{who} is {value}", phrase,
    ),
    rule(
        NOT + r"\s+(?:eat|eats|drink|drinks|consume) " + RAW,
        "avoids", "{who} does not have {value}", tastes,
    ),
    rule(
        r"\s+(?:can't|cannot|can not|avoid|avoids) (?:eat|have|drink|eating|drinking|tolerate) " + RAW,
        "avoids", "{who} does not have {value}", tastes,
    ),
    rule(
        r"\s+(?:no longer|stopped|quit)" + ADVERBS +
        r"\s+(?:like|likes|love|loves|enjoy|enjoys|liking) " + RAW,
        "likes", "{who} no longer likes {value}", tastes, negated=True,
    ),
    rule(
        r"\s+(?:don't|do not|doesn't|does not)" + ADVERBS +
        r"\s+(?:like|love|enjoy|care for)(?: to)? (?P<value>[^;:!?()\x00]{1,120}?)\s+" + LONGER,
        "likes", "{who} no longer likes {value}", tastes, negated=True,
    ),
    rule(
        r"(?:\s+(?:don't|do not|doesn't|does not)" + ADVERBS +
        r"\s+(?:like|love|enjoy|care for)|\s+(?:hate|hates|dislike|dislikes|can't stand|cannot stand|"
        r"detest|despise|loathe)) " + RAW,
        "dislikes", "{who} dislikes {value}", tastes,
    ),
    rule(
        r"(?:\s+no longer prefers?|\s+(?:don't|do not) prefer) (?P<value>[^;:!?()\x00]{1,120}?)(?:\s+" +
        LONGER + r"|$)",
        "preference", "{who} no longer prefers {value}", phrase, negated=True,
    ),
    rule(
        r"\s+(?:prefer|prefers|preferred(?= .{1,40} now)|favou?r)(?: to have| to get)? " + RAW,
        "preference", "{who} prefers {value}", phrase,
    ),
    rule(
        r"(?:\s+(?:like|likes|love|loves|enjoy|enjoys|adore|adores)|" + BE +
        r"\s+(?:into|fond of|passionate about|an? (?:big |huge |massive )?(?:fan|lover) of)) " + RAW,
        "likes", "{who} likes {value}", tastes,
    ),
    rule(
        BE + r"\s+(?:called|named) " + RAW + r"|\s+goe?s? by (?P<more>[^,;:!?()\x00]{1,40})",
        "name", "{who}'s name is {value}", name,
    ),
    rule(
        r"\s+(?:was|were) born (?:on|in) (?P<value>[^;:!?()\x00]{0,12}(?:\d|" + MONTHS +
        r")[^;:!?()\x00]{0,20})",
        "birthday", "{who} was born on {value}", dated,
    ),
    rule(
        r"(?:'m|'s|\s+am|\s+is|\s+just turned|\s+turned)(?: (?:now|already|just))? "
        r"(?P<value>\d{1,3})(?: years? old|(?=\s*(?:,|$| and\b))(?<=\d\d))",
        "age", "{who} is {value} years old", age,
    ),
    rule(
        HAVE +
        r" (?P<value>(?:an?|one|two|three|four|five|six|\d) (?:[\w-]+ ){0,2}?(?:son|daughter|kid|child|"
        r"children|brother|sister|sibling|grandchild|grandchildren|twin|grandson|granddaughter)s?(?: "
        r"(?:named|called) [A-Z][\w'-]+(?:(?:,| and|, and) [A-Z][\w'-]+){0,3})?)\b",
        "family", "{who} has {value}", anything,
    ),
    rule(
        HAVE +
        r"(?: (?:an?|one|two|three|four|five|\d|several))? (?P<value>(?:(?!and\b|to\b|the\b|my\b|"
        r"with\b)[\w-]+ ){0,3}?" + ANIMALS +
        r"s?(?: (?:named|called) [A-Z][\w'-]+(?:(?:,| and|, and) [A-Z][\w'-]+){0,3})?)\b(?! "
        r"(?:allerg\w+|person|food|owner|theme|sitter|bed|toy)\b)",
        "pet", "{who} has {value} as a pet", phrase,
    ),
    rule(
        BE +
        r"\s+(?P<value>married|divorced|engaged|widowed|single)\b(?!-| (?:mode|out|to (?:the|this|my "
        r"(?:job|work))|with|in|by|page|thread))",
        "marital_status", "{who} is {value}", one_of("married|divorced|engaged|widowed|single"),
    ),
    rule(
        r"\s+(?:have|has|'ve got|suffer from|suffers from|live with|struggle with) (?P<value>" + ILLS +
        r")\b",
        "condition", "{who} has {value}", anything,
    ),
    rule(
        r"(?:'ve been|\s+(?:was|have been|has been|got|am))" + ADVERBS + r"\s+diagnosed with " + RAW,
        "condition", "{who} was diagnosed with {value}", phrase,
    ),
    rule(
        BE + r"\s+(?P<value>pregnant|diabetic|asthmatic|lactose[- ]intolerant|gluten[- ]intolerant|"
        r"colou?r-?blind|epileptic)\b",
        "condition", "{who} is {value}", anything,
    ),
    rule(
        r"\s+(?:speak|speaks) (?:fluent |some |a little )?(?P<value>" + LANGUAGES +
        r"(?:(?:, | and |, and )(?:fluent |some )?" + LANGUAGES + r"){0,5})",
        "speaks", "{who} speaks {value}", items,
    ),
    rule(
        r"\s+(?:pay|pays|paying)(?: for \w+)? (?:with|by|via|using|in|through) " + RAW,
        "payment", "{who} pays with {value}",
        one_of(
        r"(?:my |an? )?(?:credit card|debit card|cash(?: on delivery)?|paypal|apple pay|google pay|"
        r"alipay|wechat(?: pay)?|visa|mastercard|amex|bank transfer|invoice|gift card)"),
    ),
    rule(
        r"\s+(?:wear|wears|take|am|need)(?: an?)? (?:size )?(?P<value>\d{1,2}(?:\.5)?(?: (?:US|EU|"
        r"UK))?)(?: in)? shoes?\b",
        "shoe_size", "{who} wears shoes in size {value}", anything,
    ),
    rule(
        r"\s+(?:wear|wears|take)(?: an?)? size (?P<value>XX?S|S|M|L|X{1,3}L|small|medium|large|"
        r"\d{1,2})\b",
        "size", "{who} wears size {value}", anything,
    ),
    rule(
        r"(?:" + BE + r"(?: originally)?|\s+(?:come|comes)|\s+originally come) from " + RAW,
        "hometown", "{who} comes from {value}", proper,
    ),
    rule(
        r"(?:" + BE +
        r"\s+(?:studying|enrolled)|\s+(?:study|studies|go|goes))(?: [\w ]{0,40}?)? (?:at|to) "
        r"(?P<value>(?:the )?(?:[A-Z][\w'-]* ){0,3}(?:University|College|School|Institute|MIT|"
        r"Academy)[^;,:!?()\x00]{0,40})",
        "school", "{who} studies at {value}", proper,
    ),
    rule(
        r"\s+(?:no longer use|no longer uses|stopped using|don't use|do not use) " + RAW,
        "uses", "{who} no longer uses {value}", products, negated=True,
    ),
    rule(
        r"(?:" + BE +
        r"\s+using|\s+(?:use|uses)|\s+(?:switched|changed)(?: over)? (?:from [^,;:!?()\x00]{1,60}? "
        r")?to) " + RAW,
        "uses", "{who} uses {value}", products,
    ),
    rule(
        r"(?:'m|\s+am) (?:going|traveling|travelling|flying|moving|heading|driving) to "
        r"(?P<value>(?-i:[A-Z])[^;:!?()\x00]{2,60}?\b(?:on|next|this|in|tomorrow|"
        r"tonight)\b[^;:!?(),\x00]{0,30})",
        "plan", "{who} is going to {value}", phrase,
    ),
    rule(
        r"\s+(?:have|has|'ve got) (?P<value>an? (?:[\w'-]+ ){0,3}?(?:appointment|interview|exam|flight|"
        r"surgery|wedding|deadline|presentation|checkup)\b[^;:!?()\x00]{0,20}\b(?:on|at|next|this|"
        r"tomorrow|tonight|today|in)\b[^;:!?(),\x00]{0,30})",
        "plan", "{who} has {value}", anything,
    ),
)  # fmt: skip
BEHIND_EMPLOYER: Final = (
    rule(
        r"\s+as (?:an? |the |their |its )?(?P<value>(?:[\w-]+ ){0,2}(?:" + WORK + r"))\b",
        "job", "{who} is {value}", phrase,
    ),
)  # fmt: skip
