"""The words by which a summary tells a need from a decision, a question from a promise, and both from filler.

The law of the file: every pattern has a Chinese and an English half of equal care, and none nests one open
repetition in another, so that each is linear in the text.
"""

import re
from typing import Final

__all__ = [
    "ACTS",
    "ADDS",
    "ASKS",
    "CHANGES",
    "DECIDES",
    "DEFERS",
    "DONE",
    "FILLER",
    "NAMES",
    "NEEDS",
    "PRAISES",
    "REQUESTS",
    "SETTLES",
    "STRESSED",
    "YES_NO_END",
]


def either(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


GREETING_ZH: Final = (
    r"(?:你好|您好|大家好|在吗|嗨|哈喽|早安?|晚安|(?:早上|上午|中午|下午|晚上)好|非常|十分|真的|那)?"
    r"(?:谢谢|多谢|感谢|太好了|太棒了|好(?:的|吧|呀|呢|嘞)?|嗯+|哦+|啊+|呃+|哈+|行|收到|明白|了解|知道了|清楚了"
    r"|没问题|没事|不客气|不用谢|再见|拜拜|请?稍等|请稍候|辛苦|麻烦|打扰|抱歉|不好意思|对不起|当然(?:可以)?|好问题"
    r"|请问|那个|就是|另外)?(?:您的?(?:耐心)?(?:等待|理解|支持)|你|您|大家|了|啦|啊|哈|一下|片刻){0,3}"
)
CLOSING_ZH: Final = (
    r"(?:很高兴|乐意|随时)(?:能|可以)?(?:为|帮).{0,10}"
    r"|(?:请问)?(?:还|您|你)?(?:有|需要)?(?:什么|其他|别的).{0,6}(?:帮|为|需要).{0,12}"
    r"|如?果?(?:您|你)?还?有(?:任何|其他|别的)?(?:问题|疑问|需要).{0,6}(?:随时|请|可以).{0,10}"
    r"|随时(?:联系|告诉|找|问)我.{0,4}|祝[你您].{0,10}"
)
GREETING_EN: Final = (
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day|night)|thanks?|thank you|thx"
    r"|cheers|many thanks)"
    r"(?: there| all| everyone| again| so much| very much| a lot| you"
    r"| for (?:that|your (?:help|patience|time|reply))){0,3}"
    r"|ok(?:ay|ey)?|k|sure(?: thing)?|great(?: question)?|cool|nice|fine|perfect|awesome|excellent|wonderful"
    r"|well|so"
    r"|hmm+|uh+|um+|oh|got it|i see|understood|noted|right|alright|all right|no (?:problem|worries)"
    r"|you(?:['’]?| a)re (?:very )?welcome|(?:good)?bye|see you.{0,12}|of course|absolutely|certainly"
    r"|definitely"
    r"|sounds good|my pleasure|lol|haha+|sorry|please"
)
CLOSING_EN: Final = (
    r"(?:just )?(?:one|a) (?:moment|second|minute)(?: please)?|please (?:wait|hold on)"
    r"|let me (?:see|know|check|look).*|how (?:can|may) i (?:help|assist).*|what can i do for you.*"
    r"|(?:is there )?anything else.*|feel free to.*|(?:i['’]?m|i am)? ?(?:happy|glad) to (?:help|assist).*"
    r"|(?:i )?hope (?:this|that) helps.*|have a (?:nice|great|good|lovely).*|welcome to.*"
    r"|don['’]?t hesitate.*"
    r"|if you (?:have|need) any.*"
)
FILLER: Final = either(GREETING_ZH, CLOSING_ZH, GREETING_EN, CLOSING_EN)

ASKS: Final = either(
    r"[?？][”’」』）)\s]*$|[吗呢][。.\s]*$",
    r"什么时候|为什么|怎么(?:办|样|做|弄)|多少|几点|哪[个里些天]|是否|能否|可否",
    r"^(?:who|what|when|where|which|why|how|is|are|do|does|did|can|could|will|would|should|may)\b[^.]*$",
)
REQUESTS: Final = either(
    r"帮[我忙]|请(?!问)|麻烦|能不能|可不可以|能否|可否|(?:可以|能).{0,12}[吗么]|给我",
    r"\b(?:can|could|would|will) you\b|\bplease\b|\bhelp me\b|\bi need you to\b",
)
NEEDS: Final = either(
    r"想|希望|需要|打算|计划|预算|不要|喜欢|偏好|讨厌|必须|最好|过敏|忌口|记住|以后都?请?|习惯|总是|从不|要求|务必|尽量",
    r"\b(?:want|need|looking for|would like|(?:i|we)['’]d like|prefer|plan|planning|budget)\b",
    r"\b(?:hope|wish|must|allergic|remember|from now on|make sure|avoid|like|love)\b",
    r"\b(?:hate|dislike|always|never|trying to|require)\b",
)
DECIDES: Final = either(
    r"决定|确定|就[选要定用按买订]|确认|定了|选[了定择]|同意|采用|批准",
    r"\b(?:decided|go(?:ing)? (?:ahead|with)|went with|agreed|confirm(?:ed)?|choose|chose|settled on)\b",
    r"\b(?:approved|finali[sz]ed)\b",
)
DONE: Final = either(
    r"改[成为到签]|换[成为到]|取消|退[款货](?:已|成功|完成)|[会将][为帮在于给]|下单|安排|不再|搬[到去]",
    r"已(?:经)?(?:为|帮|将|把|下单|预订|预约|提交|发|安排|完成|退|更新|创建|登记)",
    r"\b(?:booked|cancel(?:l?ed)?|changed?|switched?|moved?|updated|scheduled|ordered|refunded|submitted|created)\b",
    r"\b(?:sent|resolved|fixed|completed|instead|no longer|rescheduled|has been|have been)\b",
    r"\b(?:i['’]?ve|i have|i['’]ll|i will|we['’]ll|we will)\b",
)
ACTS: Final = either(  # in the name of a tool: it changed something, and must not be called again
    r"创建|预订|取消|更新|支付|退款|发送|提交|删除|添加|修改|下单",
    r"create|book(?!ing)|cancel|update|order(?=_|$)|pay|refund|send|submit|delete|remove",
    r"add(?!ress)|set_|change|modify|reserve|transfer|schedule|register|write|save|exchange|return",
)
DEFERS: Final = either(
    r"稍后|尽快|核实|待(?:定|确认|处理|回复|解决)|还没|尚未|未(?:解决|确认|完成)|下次|回头|不确定|跟进",
    r"等.{0,10}(?:通知|回复|结果|确认)",
    r"\b(?:pending|not yet|waiting (?:for|on)|to be (?:confirmed|decided|determined)|tbd|tbc)\b",
    r"\b(?:follow(?:ing)? up|unresolved|still (?:need|open|unclear|have to)|get back to)\b",
    r"\b(?:look(?:ing)? into|not sure|todo)\b",
    r"\b(?:don['’]?t know (?:yet|when|whether))\b",
)
STRESSED: Final = either(
    r"一定|必须|务必|重要|关键|记住|注意|千万|绝对|过敏",
    r"\b(?:must|important|critical|remember|always|never|allergic|urgent|make sure)\b",
)
CHANGES: Final = either(
    r"改[成为到]|换[成为]|不对|更正|其实|不再",
    r"\b(?:actually|instead|correction|changed?|no longer|rather)\b",
)
ADDS: Final = either(r"另一个|另外|还有|也", r"\b(?:also|another|second|besides|as well|too)\b")
NAMES: Final = either(r"我[叫姓是住在]|我的", r"\b(?:my name|i['’]?m|i am|i live|i work|my)\b")
PRAISES: Final = either(
    r"^(?:哇|真[棒好]|太[好棒]|好厉害|不错)",
    r"^(?:wow|yay|aw+|cool|awesome|congrats|congratulations)\b",
    r"^(?:that|this|it)(?:['’]s| is| was| sounds| looks) (?:so |really |very |pretty )?"
    r"(?:cool|great|awesome|amazing|nice|lovely|wonderful|kind|sweet)\b",
)

YES_NO_END: Final = re.compile(r"[\s,.!，。！~～、]*[,.!，。！~～、\n][\s,.!，。！~～、]*")
SETTLES: Final = re.compile(
    r"(?:(?:是|对|没错|可以|行|好|没问题|确认|确定|同意|就这[个样]|要|不要|不用|不是|不行|不需要|算了"
    r"|yes|yep|yeah|yup|sure|ok|okay|no|nope|nah|go ahead|please do|sounds good|do it|correct|right|confirmed"
    r"|confirm|that works|please|agreed|exactly|not really|no thanks)[吧的了啊呀哈]?(?: |$)?)+"
)
