"""English commands that tell how the speaker wants to be reached, and where parcels are to be left.

Law of the file: a clause fits from its first word to its last, so that `e-mail me the invoice` or `call me at
five` never does.
"""

import re
from typing import Final

from actormem.core.facts.readers_en import anything
from actormem.core.facts.rules import Wish
from actormem.core.facts.rules_en import rule

__all__ = ["CHANNEL", "WISHES"]

CHANNEL: Final = (
    r"(?:e-?mails?|electronic mail|text(?: messages?|s|ing)?|SMS|(?:tele|mobile )?phone(?: calls?)?|"
    r"(?:voice |video )?calls?|calling|e-?mailing|WhatsApp|We ?Chat|Telegram|Signal|iMessage|Messenger|Slack|"
    r"Line|letters?|post)"
)
CORE: Final = r"(?:e-?mails?|text(?: messages?|s|ing)|SMS|phone calls?|calls|e-?mailing|letters)"
BY: Final = r" (?:by|via|through|on|over|using|with|in) (?:my |the |an? )?" + CHANNEL
CALL: Final = r"(?:call(?:ed)?|phoned?|ring|rang)"
TEXT: Final = r"(?:text(?:ed)?|e-?mail(?:ed)?|messaged?|whatsapp(?:ed)?)"
ASK: Final = (
    r"(?:contact(?:ed)?|reach|notify|notified|get in touch with|get hold of|update|alert|inform|(?:write|"
    r"wrote)(?: to)?)"
)
ALWAYS: Final = (
    r"(?:always|only ever|from (?:now on|today on|here on)|going forward|in (?:the )?future|henceforth|"
    r"every time)"
)
LEAD: Final = (
    r"(?:(?:please|just|kindly|simply|so|and|but|then|ok(?:ay)?|well|actually|also|only|rather|instead|"
    r"you (?:can|may|should|could|must)|you'd better|feel free to|if possible|remember(?: to| that)?|"
    r"note that|"
    r"(?:make|be) sure (?:to|you)|try to|it(?:'s| is|'d be| would be) (?:best|better|easier)(?: (?:if you|"
    r"to))?|"
    r"I(?:'d| would)(?: much)? (?:prefer|like|rather)(?: it)?(?: if| that)?(?: you)?(?: to| just)?|"
    r"I (?:want|need|prefer)(?: that)? you(?: to)?|" + ALWAYS + r")[ ,]+){0,6}"
)
GENERAL: Final = (
    r"(?:whenever|(?:if|when|in case|should|every time)(?: of)? (?:anything|something|things?|any|"
    r"there(?:'s| is|"
    r" are)? (?:any|an?|some|ever|problems|issues|questions|news)|problems?|issues?|questions?|you (?:need|"
    r"have|want|"
    r"must)|needed|necessary|it's (?:urgent|important)|an? )|for (?:anything|any|everything|all|urgent)|"
    r"about (?:anything|everything|all)|in an emergency)\b"
)
HEAD: Final = r"(?:" + GENERAL + r"[^,]{0,40} )?" + LEAD
TAIL: Final = (
    r"(?:,? (?:instead(?: of [\w ]{2,30})?|rather(?: than [\w ]{2,30})?|only|please|thanks|thank you|"
    r"always|first|"
    r"any ?more|from now on|from here on|going forward|in (?:the )?future|every time|not [\w ]{2,20}|"
    + GENERAL
    + r".*)){0,4}"
)
GOOD: Final = r"(?:best|better|easiest|easier|ideal|preferable|preferred|simplest|(?:more|most) convenient)"
ENOUGH: Final = r"(?:fine|good|okay|ok|enough|great|well)"
FOR_ME: Final = r" (?:for me|(?:way )?(?:to|for) (?:reach|contact|get|notify)(?:ing)?(?: hold of)? me)"
AGAIN: Final = (
    r"(?:,? (?:any ?more|any longer|again|ever|please|from now on|at all|thanks|thank you|in (?:the )?future|"
    r"all the time|every (?:day|time)|(?:for|about) (?:anything|everything))){0,4}"
)
NOT: Final = r"(?:don't|do not|don't ever|never|stop|quit|no longer|no need to|you needn't)(?: please)? "

ONCE: Final = re.compile(
    r"^(?:(?:please|so|and|but) )?(?:if|when|once|as soon as|after|before|until|while|the moment|today|"
    r"tonight|"
    r"tomorrow|right now|now|for now|for (?:this|once)|this (?:time|one|once|morning|afternoon|evening|week)|"
    r"just this once|I'm (?:in|at|busy|asleep|driving|sleeping))\b",
    re.IGNORECASE,
)
FIRM: Final = re.compile(
    r"\b(?:any ?more|any longer|more|again|stop|quit|no longer|never|always|from now on|going forward|"
    r"in (?:the )?future)\b",
    re.IGNORECASE,
)
STANDING: Final = re.compile(
    r"\b" + ALWAYS + r"\b|\b(?:instead|rather|prefer|best|better|easier|easiest)\b|\b" + GENERAL,
    re.IGNORECASE,
)
NOTHING: Final = re.compile(r"(?!)")

CONTACT: Final = Wish(
    keep=rule("", "contact_preference", "{who} wants to be contacted this way: {thing}", anything),
    close=rule(
        "", "contact_preference", "{who} no longer wants to be contacted this way: {thing}", anything,
        negated=True,
    ),
    gate=(
        "mail", "text", "call", "phone", "sms", "whatsapp", "wechat", "we chat", "message", "ring me",
        "telegram", "on signal", "letter",
    ),
    wanted=re.compile(
        HEAD + r"(?P<value>" + TEXT + r" me|(?:" + CALL + "|" + TEXT + "|" + ASK + r") me" + BY
        + r"|(?:to )?(?:be|being|get|getting) (?:(?:contacted|reached|notified|updated)" + BY
        + r"|(?:called|texted|e-?mailed|phoned|messaged)(?:" + BY + r")?))" + TAIL
        + r"|" + HEAD
        + r"I(?:'d| would)?(?: (?:much|really|strongly|still))? (?:prefer|favou?r)(?: (?:to (?:use|get|"
        r"receive|have)|using|getting|receiving|contact (?:by|via)))? (?P<more>" + CORE
        + r"|to be (?:called|texted|e-?mailed|phoned)|(?:to be )?contact(?:ed)?" + BY
        + r"|being (?:called|texted|e-?mailed|phoned))(?: (?:over|to|instead|rather)\b[\w -]{0,40})?" + TAIL
        + r"|" + HEAD + r"(?P<plain>" + CHANNEL
        + r") (?:is|are|works?|would be|will be)(?: (?:the|always|usually|generally|still|by far|just))*(?: "
        + GOOD + "(?:" + FOR_ME + ")?| " + ENOUGH + FOR_ME + r")" + TAIL
        + r"|" + HEAD
        + r"(?:the|my) (?:best|easiest|simplest|fastest|quickest|preferred|favou?rite) (?:way|method|channel|"
        r"means)(?: (?:to|of|for) (?:reach|contact|get|notify|communicat)\w*(?: (?:me|to me|hold of me))?)? "
        r"(?:is|would be) (?:by |via |through |to |an? )?(?P<last>" + CHANNEL + "|(?:" + CALL + "|" + TEXT
        + r") me)" + TAIL,
        re.IGNORECASE,
    ),
    likely=re.compile(
        HEAD + r"(?P<value>" + CALL
        + r" me|(?:write|send|drop|shoot)(?: me)? (?:an? )?(?:e-?mails?|texts?|text messages?|messages?|SMS)|"
        r"use " + CHANNEL + r")" + TAIL + r"|" + HEAD + r"(?P<more>" + CHANNEL
        + r") (?:instead|only|from now on)" + TAIL,
        re.IGNORECASE,
    ),
    beside=re.compile(
        HEAD + r"(?:(?:by|via|through|over to|use|go for|I want|let's use) )?(?P<value>" + CHANNEL + r"|"
        + CALL + "|" + TEXT + r"|write)" + TAIL,
        re.IGNORECASE,
    ),
    refused=re.compile(
        HEAD + NOT
        + r"(?P<value>send(?:ing)? me (?:any )?(?:more |further )?(?:texts|text messages|e-?mails)|(?:call|"
        r"phon|ring|text|e-?mail|messag|whatsapp|contact|writ)(?:e|ing)?(?: me)?(?:" + BY
        + r")?)" + AGAIN
        + r"|" + HEAD
        + r"no (?:more |further )?(?P<more>(?:phone )?calls|texts|text messages|e-?mails|SMS)" + AGAIN
        + r"|" + HEAD
        + r"I (?:don't|do not|no longer) (?:want|wish|like)(?: you)?(?: to (?:get|receive|have|be))?(?: "
        r"any)?(?: more)? (?P<plain>(?:phone )?calls|texts|text messages|e-?mails|called|texted|e-?mailed|"
        r"phoned|(?:to )?(?:call|text|e-?mail)(?:ing)? me|contacted" + BY + r")" + AGAIN,
        re.IGNORECASE,
    ),
    mine=re.compile(r"\b(?:me|I)\b"),
    firm=FIRM,
    standing=STANDING,
    general=re.compile(r"(?:(?:and|but|so|please) )?" + GENERAL, re.IGNORECASE),
    once=ONCE,
)  # fmt: skip
PARCEL: Final = (
    r"(?: (?:it|them|that|everything|(?:my |the |any |all |your |all my )?(?:parcels?|packages?|"
    r"deliver(?:y|ies)|"
    r"orders?|mail|things|stuff|boxes)))"
)
SPOT: Final = (
    r" (?:at|in|by|on|with|outside|to|behind|inside|near) (?:the |my |our |"
    r"a )?(?:[\w-]+ ){0,2}?(?:door(?:step|man|"
    r"mat)?|porch|lockers?|front desk|reception(?: desk)?|concierge|neighbou?rs?(?: \w+)?|mailbox|lobby|"
    r"garage|"
    r"mail ?room|gate|parcel box|pick-?up point|station)"
)
DELIVERY: Final = Wish(
    keep=rule("", "delivery", "{who} wants deliveries this way: {thing}", anything),
    close=rule("", "delivery", "{who} no longer wants deliveries this way: {thing}", anything, negated=True),
    gate=("leave", "drop", "put ", "deliver", "place "),
    wanted=re.compile(
        HEAD + r"(?P<value>(?:leave|drop|put|place|deliver)" + PARCEL + r"(?: off)?" + SPOT + r")" + TAIL,
        re.IGNORECASE,
    ),
    likely=re.compile(
        HEAD + r"(?P<value>(?:leave|drop|put|deliver)(?: off)?" + SPOT + r")" + TAIL, re.IGNORECASE
    ),
    beside=re.compile(
        HEAD + r"(?P<value>(?:use|leave|put|drop|try)(?: it| them)?(?:" + SPOT
        + r"| the (?:lockers?|front desk|reception|porch|mailbox|concierge)))" + TAIL,
        re.IGNORECASE,
    ),
    refused=re.compile(
        HEAD + NOT + r"(?P<value>(?:leav|drop|put|plac|deliver)(?:p?ing|t?ing|e)?" + PARCEL + r"?(?: off)?"
        + SPOT
        + r")" + AGAIN,
        re.IGNORECASE,
    ),
    mine=NOTHING,
    firm=FIRM,
    standing=STANDING,
    general=re.compile(r"(?:(?:and|but|so|please) )?" + GENERAL, re.IGNORECASE),
    once=ONCE,
)  # fmt: skip
WISHES: Final = (CONTACT, DELIVERY)
