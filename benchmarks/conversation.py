"""A made-up conversation: Chinese and English in turn, with order numbers and facts planted in it.

The same seed gives the same words everywhere. Nothing in it was said by anyone.
"""

from random import Random

import msgspec

__all__ = ["TURN_COUNT_MAX", "Order", "SpokenTurn", "conversation"]

ORDER_EVERY = 5  # turns; odd, so that orders fall on both languages
FACT_EVERY = 7  # turns
ENGLISH_SENTENCES = 7  # about 90 tokens of a message in the o200k vocabulary
CHINESE_SENTENCES = 5

ENGLISH_PLACES = ("kitchen", "garage", "office", "garden", "workshop", "hallway", "attic", "studio")
ENGLISH_PEOPLE = ("my sister", "the neighbour", "a colleague", "our teacher", "the electrician", "my uncle")
ENGLISH_DEEDS = (
    "looked at",
    "moved",
    "cleaned",
    "measured",
    "asked about",
    "painted",
    "repaired",
    "borrowed",
)
ENGLISH_THINGS = ("kettle", "lamp", "suitcase", "blanket", "radio", "bookshelf", "umbrella", "tripod", "rug")
ENGLISH_COLOURS = ("red", "green", "blue", "grey", "white", "yellow", "purple", "brown")
ENGLISH_WHEN = ("this morning", "after lunch", "on the weekend", "late in the evening", "before the rain")
ENGLISH_FACTS = (
    "By the way, I moved to {city} last month.",
    "Please remember that I am allergic to {food}.",
    "I would rather have {food} than anything else for dinner.",
)
ENGLISH_CITIES = ("Leeds", "Oslo", "Porto", "Denver", "Perth")
ENGLISH_FOODS = ("peanuts", "shrimp", "noodles", "cheese", "mango")

CHINESE_PLACES = ("厨房", "车库", "办公室", "花园", "工作间", "走廊", "阁楼", "书房")
CHINESE_PEOPLE = ("我姐姐", "邻居", "一位同事", "老师", "电工师傅", "我舅舅")
CHINESE_DEEDS = ("看了看", "挪动了", "擦干净了", "量了量", "问起了", "重新刷了", "修好了", "借走了")
CHINESE_THINGS = ("水壶", "台灯", "行李箱", "毛毯", "收音机", "书架", "雨伞", "三脚架", "地毯")
CHINESE_COLOURS = ("红色", "绿色", "蓝色", "灰色", "白色", "黄色", "紫色", "棕色")
CHINESE_WHEN = ("今天早上", "午饭以后", "周末的时候", "晚上很晚", "下雨之前")
CHINESE_FACTS = (
    "对了，我上个月搬到{city}了。",
    "请记住，我对{food}过敏。",
    "比起别的，晚饭我更喜欢吃{food}。",
)
CHINESE_CITIES = ("杭州", "成都", "青岛", "西安", "厦门")
CHINESE_FOODS = ("花生", "虾", "面条", "奶酪", "芒果")
TURN_COUNT_MAX = ORDER_EVERY * len(ENGLISH_COLOURS) * len(ENGLISH_THINGS)


class Order(msgspec.Struct, frozen=True):
    """A planted order number, and a question that names what was ordered and no character of the number."""

    number: str
    question: str


class SpokenTurn(msgspec.Struct, frozen=True):
    """What the user says and what the model replies; an order where one is planted in the user's words."""

    user: str
    reply: str
    order: Order | None = None


def conversation(turn_count: int, seed: int) -> tuple[SpokenTurn, ...]:
    """The turns of a conversation, even ones Chinese and odd ones English.

    Args:
        turn_count: 1 to 360: no two orders are of the same thing in the same colour, in either language.
        seed: The same seed and count give the same words.
    """
    chance = Random(seed)
    wares = [
        (colour, thing) for colour in range(len(ENGLISH_COLOURS)) for thing in range(len(ENGLISH_THINGS))
    ]
    chance.shuffle(wares)
    assert 1 <= turn_count <= TURN_COUNT_MAX
    turns: list[SpokenTurn] = []
    for number in range(turn_count):
        chinese = number % 2 == 0
        said = _chatter(chance, chinese)
        order = None
        if number % FACT_EVERY == 0:
            said.insert(chance.randrange(len(said)), _fact(chance, chinese))
        if number % ORDER_EVERY == 0:
            sentence, order = _order(chance, chinese, *wares.pop())
            said.insert(chance.randrange(len(said)), sentence)
        turns.append(SpokenTurn(_joined(said, chinese), _joined(_chatter(chance, chinese), chinese), order))
    return tuple(turns)


def _chatter(chance: Random, chinese: bool) -> list[str]:
    pick = chance.choice
    if chinese:
        return [
            f"{pick(CHINESE_WHEN)}，{pick(CHINESE_PEOPLE)}在{pick(CHINESE_PLACES)}里{pick(CHINESE_DEEDS)}那个"
            f"{pick(CHINESE_THINGS)}。"
            for _ in range(CHINESE_SENTENCES)
        ]
    return [
        f"{pick(ENGLISH_WHEN).capitalize()}, {pick(ENGLISH_PEOPLE)} {pick(ENGLISH_DEEDS)} the "
        f"{pick(ENGLISH_THINGS)} in the {pick(ENGLISH_PLACES)}."
        for _ in range(ENGLISH_SENTENCES)
    ]


def _fact(chance: Random, chinese: bool) -> str:
    facts = CHINESE_FACTS if chinese else ENGLISH_FACTS
    cities = CHINESE_CITIES if chinese else ENGLISH_CITIES
    foods = CHINESE_FOODS if chinese else ENGLISH_FOODS
    return chance.choice(facts).format(city=chance.choice(cities), food=chance.choice(foods))


def _order(chance: Random, chinese: bool, colour: int, thing: int) -> tuple[str, Order]:
    letters = "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=2))
    number = f"{letters}-{chance.randrange(100_000, 1_000_000)}"
    if chinese:
        ware = CHINESE_COLOURS[colour] + CHINESE_THINGS[thing]
        return f"我买的{ware}的订单号是{number}。", Order(number, f"我买的{ware}的订单号是多少？")
    ware = f"{ENGLISH_COLOURS[colour]} {ENGLISH_THINGS[thing]}"
    sentence = f"The order number of the {ware} I bought is {number}."
    return sentence, Order(number, f"What is the order number of the {ware} I bought?")


def _joined(sentences: list[str], chinese: bool) -> str:
    return ("" if chinese else " ").join(sentences)
