"""Words that address a model instead of telling what was said: orders, marks of roles, links.

The law of the file: words are looked at as a reader sees them: hidden characters are left out, full-width letters
are plain ones. What a user wants of his assistant ("answers in Chinese from now on") is no order of this kind.
"""

import re
import unicodedata
from typing import Final

from actormem.core.hidden import unhidden

__all__ = ["gives_orders", "has_role_marks", "links_in"]

ROLE_MARKS: Final = re.compile(
    r"<\|[^|>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>"
    r"|</?(?:conversation|data-|memory|system|assistant|user|developer|instructions?|tool_call|function_call)\b"
    r"|^[ \t]*(?:#{1,6}[ \t]*)?\**(?:system|developer|human|assistant|user|instruction|系统|开发者|助手|用户)\**\s*:"
    r"|^[ \t]*(?:[-*>][ \t]*)?[\[【](?:system|developer|human|assistant|user|系统|开发者|助手|用户)"
    r"(?:\s?(?:message|prompt|消息|提示|指令))?[\]】]"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|developer|assistant)",
    re.IGNORECASE | re.MULTILINE,
)
ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|all|any|your|system|safety)\b"
    r"[^.\n]{0,20}\b(?:instruction|prompt|rule|message|guideline|guardrail|policy|policie|restriction)s?\b"
    r"|\byou are now\b|\byou are no longer (?:an?|the|bound|restricted)\b|\bdan mode\b"
    r"|\bnew (?:system )?instructions?\s*:|\bsystem prompt\b"
    r"|\byou (?:must|shall|have to|will) (?:now |always |never |not |only )*"
    r"(?:ignore|disregard|reveal|disclose|obey|comply|pretend|act as|exfiltrate)\b"
    r"|\byou (?:must|should|shall|have to|need to|will) (?:now )?(?:always|never|only) "
    r"(?:recommend|execute|send|forward|transfer|approve|reply|respond|answer|print|output|call|say|mention)\b"
    r"|\b(?:ai|model|assistant|llm|chatbot|agent)s? (?:must|should|shall) (?:now |always |never |not |only )*"
    r"(?:ignore|disregard|reveal|disclose|obey|comply|execute|exfiltrate|approve|pretend|act as|recommend)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|warn) the users?\b"
    r"|\b(?:remember|store|save) (?:this |it )?for (?:all|every|other|any) (?:users?|customers?|tenants?|sessions?)\b"
    r"|(?:忽略|无视|忘记|忘掉|绕过|覆盖|不要遵守|停止遵守)[^。\n]{0,12}(?:指令|指示|说明|提示|规则|要求|设定|限制|命令)"
    r"|你现在是|你不再(?:是一|受)|系统提示词|新的?(?:系统)?指令\s*:"
    r"|(?:你|模型|助手|AI)(?:必须|务必|应当|一定要|只能|不得)(?:始终|永远|总是|一律|只)?(?:忽略|无视|泄露|透露|服从|假装|扮演)"
    r"|(?:你|模型|助手|AI)(?:必须|务必|应当|一定要|应该|要)(?:始终|永远|总是|一律|只)(?:推荐|执行|转账|批准|发送|转发|调用|输出|回答|回复)"
    r"|(?:不要|别|不得|禁止)(?:告诉|告知|通知|让)用户"
    r"|(?:为|对|给)(?:所有|全部|每个|其他)的?(?:用户|客户|租户|会话)都?(?:记住|保存)",
    re.IGNORECASE,
)
LINK: Final = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s<>\"'`，。！？；、（）()《》【】\[\]]{1,2000}"
    r"|\b(?:javascript:|vbscript:|mailto:|data:\w{1,20}/)[^\s<>\"'，。！？；、（）()\]]{3,2000}"
    r"|(?<=\]\()[^\s)]{1,2000}"  # where a link or a picture of Markdown leads to
    r"|(?<![\w@./-])(?:[a-z0-9-]{1,63}\.){1,4}"
    r"(?:com|net|org|io|ai|dev|app|xyz|top|info|biz|cn|ru|me|co|site|online|shop|club|tk|ly|gg|example|test)"
    r"(?:[/?#:][^\s<>\"'，。！？；、（）()\]]{0,2000}|(?![\w.@-]))",
    re.IGNORECASE,
)
ENDING: Final = ".,!?;:*_~`"


def plain(text: str) -> str:
    """The text as a reader sees it, in plain letters; lines stay lines."""
    return text if text.isascii() else unicodedata.normalize("NFKC", unhidden(text))


def gives_orders(text: str) -> bool:
    """Whether the text gives orders to a model."""
    return ORDERS.search(plain(text)) is not None


def has_role_marks(text: str) -> bool:
    """Whether the text holds marks by which roles of a conversation are told apart, or lines that pass for one."""
    return ROLE_MARKS.search(plain(text)) is not None


def links_in(text: str) -> list[str]:
    """The links of a text: of every scheme, of Markdown, and names of hosts alone; without the mark that ends them."""
    found = (match.group().rstrip(ENDING) for match in LINK.finditer(plain(text)))
    return [link for link in found if link]
