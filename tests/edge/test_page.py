"""The page in a real browser, on a real server: what a person sees and does, and what others cannot do to him.

Left out where there is no chromium or no playwright. One browser for all; a context of its own for each test.
"""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from actormem.remote.transport import client_library
from actormem.server.grants import add_key, read_keys
from actormem.server.pages import page_paths, page_routes
from actormem.testing import ScriptedEmbedder
from tests.edge.served import Served, served

playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt install chromium"),
]
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
ADA = {"user": "ada"}
S = {"user": "ada", "session": "s-1"}
HOSTILE = "<img src=x onerror=pwned()><script>pwned()</script>\"'`${1}</p>{user}"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncGenerator[Any]:
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


class Seen:
    """A page of the browser, a client of the server, and everything the browser complained of."""

    def __init__(self, page: Any, client: Any, server: Served) -> None:
        self.page = page
        self.client = client
        self.server = server
        self.complaints: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    async def go(self, place: str) -> None:
        await self.page.goto(f"{self.server.url}/#/{place}")

    async def sees(self, *texts: str) -> None:
        for text in texts:
            await playwright.expect(self.page.get_by_text(text).first).to_be_visible()

    async def turn(self, said: str, reply: str, id: str, **whose: str) -> None:
        session = {**S, **whose}
        opened = await self.client.post("/api/turn", params=session, json={"message": said, "id": id})
        assert opened.status_code == 200, opened.text
        await self.client.post("/api/turn/reply", params={**session, "turn": id}, json={"message": reply})

    async def focuses(self, role: str, name: str) -> None:
        found = self.page.get_by_role(role, name=name, exact=True)
        await playwright.expect(found).to_be_focused()


@asynccontextmanager
async def looking(
    browser: Any, path: Path | None = None, *, keys: Any = None, **options: Any
) -> AsyncGenerator[Seen]:
    embedder = ScriptedEmbedder()
    pages = {"pages": page_routes(), "open_paths": page_paths()}
    async with served(path=path, embedder=embedder, keys=keys, **pages) as server:
        settings = {"locale": "en-GB", "viewport": {"width": 1280, "height": 800}, **options}
        context = await browser.new_context(**settings)
        context.set_default_timeout(10_000)
        try:
            async with client_library().AsyncClient(base_url=server.url) as client:
                seen = Seen(await context.new_page(), client, server)
                seen.embedder = embedder  # type: ignore[attr-defined]
                yield seen
        finally:
            await context.close()


async def test_memories_are_seen_searched_edited_and_forgotten_with_a_receipt(
    browser: Any, tmp_path: Path
) -> None:
    async with looking(browser, tmp_path) as seen:
        page = seen.page
        await seen.turn("I live in Zanzibar.", "Noted.", "q-1")
        await seen.turn("My address is now 12 Quay Street, Lisbon.", "Noted.", "q-2")
        await seen.server.runtime.settle()
        await seen.go("people")
        await page.get_by_role("link", name="ada").click()
        await seen.focuses("heading", "Memories")
        await seen.sees("1 memory")
        await page.get_by_label("Also what no longer holds").check()
        await seen.sees("2 memories", "replaced")
        await page.locator(".item.is-live summary").click()
        await seen.sees("In these words", "Versions", "this one")
        assert await page.get_by_role("link", name="session s-1").first.get_attribute("href") == (
            "#/session?user=ada&session=s-1&at=q-2"
        )
        await page.locator(".item.is-live").get_by_role("button", name="Edit").click()
        await page.get_by_label("New text").fill("The user lives at 14 Quay Street, Lisbon.")
        await page.get_by_role("button", name="Save").click()
        await seen.sees("14 Quay Street", "Saved as version 2.")
        await seen.focuses("button", "Edit")
        await page.keyboard.press("/")
        await page.keyboard.type("Which street?")
        await page.keyboard.press("Enter")
        await seen.sees("14 Quay Street", "Score ")
        await playwright.expect(page.get_by_role("searchbox")).to_be_focused()
        await page.get_by_role("radio", name="About the person").focus()
        await page.keyboard.press("ArrowRight")
        await seen.focuses("radio", "Said")
        await page.keyboard.press("ArrowLeft")
        await seen.focuses("radio", "About the person")
        await seen.sees("1 memory of")
        await page.get_by_role("button", name="Forget", exact=True).click()
        await page.keyboard.press("Escape")
        await seen.focuses("button", "Forget")
        await page.get_by_role("button", name="Forget", exact=True).click()
        await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
        await seen.sees("Erased", "Nothing of it is left in the files.")
        await page.get_by_role("button", name="Close").click()
        await seen.sees("Nothing fits")
        assert "Quay" not in (await seen.client.get("/api/messages", params=S)).text
        assert seen.complaints == []


async def test_a_turn_shows_what_the_model_was_given_and_why_and_a_session_is_followed_live(
    browser: Any,
) -> None:
    async with looking(browser) as seen:
        page = seen.page
        await seen.client.put(
            "/api/session", params=S, json={"system": "Be brief.", "budget": {"context": 700}}
        )
        for place in range(6):
            await seen.turn(f"Order KX-4821{place} was late. " * 9, "Sorry to hear that. " * 12, f"q-{place}")
        await seen.server.runtime.settle()
        seen.embedder.failure = ValueError("down")  # type: ignore[attr-defined]
        await seen.turn("What annoyed me so much about the deliveries?", "All of them.", "q-9")
        await seen.go("session?user=ada&session=s-1")
        await seen.sees("Summary of", "Turn 7", "found by words alone")
        trace = (await seen.client.get("/api/turn", params={**S, "turn": "q-9"})).json()
        told = trace["trace"]
        await seen.sees(f"{told['tokens']} of 700 tokens")
        assert await page.locator(".segment").count() == len(told["sections"])
        cells = await page.locator(".numbers tbody tr td:nth-child(2)").all_inner_texts()
        assert cells[: len(told["sections"])] == [str(one["tokens"]) for one in told["sections"]]
        await page.locator("details[data-part=exact] summary").click()
        shown = await page.locator(".exact > li .words").all_inner_texts()
        assert shown == [one["content"] for one in trace["messages"]]
        link = page.get_by_role("link", name="Turn 6: why this context")
        await link.click()
        await seen.sees("Nothing degraded")
        await link.focus()
        await seen.turn("And this one is said while somebody looks on.", "Indeed.", "q-10")
        await seen.sees("said while somebody looks on", "Turn 8")
        await playwright.expect(link).to_be_focused()
        await playwright.expect(page.get_by_role("status").last).to_contain_text(
            "Turn 8 has ended: complete."
        )
        await page.get_by_role("button", name="Follow the newest turn").click()
        await playwright.expect(page.locator(".inspector h2")).to_have_text("Turn 8")
        await seen.turn("One more.", "Yes.", "q-11")
        await playwright.expect(page.locator(".inspector h2")).to_have_text("Turn 9")
        await seen.server.runtime.settle()
        item = (await seen.client.get("/api/items", params=ADA)).json()[-1]
        await seen.client.request("DELETE", "/api/item", params={**ADA, "item": item["id"]})
        await seen.sees("does not hold these messages any more")  # nor does the page show what was forgotten
        await seen.client.request("DELETE", "/api/session", params=S)
        await seen.sees("This session has been forgotten")
        assert seen.complaints == []


async def test_what_anybody_says_is_shown_as_text_and_never_run(browser: Any) -> None:
    async with looking(browser) as seen:
        page = seen.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.add_init_script("window.pwned = () => { window.wasPwned = true; }")
        whose = {"user": HOSTILE, "session": HOSTILE, "tenant": HOSTILE}
        owner = {"user": HOSTILE, "tenant": HOSTILE}
        opened = await seen.client.post("/api/turn", params=whose, json={"message": HOSTILE, "id": "q"})
        assert opened.status_code == 200
        call = {"id": "c", "type": "function", "function": {"name": HOSTILE[:60], "arguments": HOSTILE}}
        tools = [{"role": "assistant", "content": HOSTILE, "tool_calls": [call]},
                 {"role": "tool", "tool_call_id": "c", "content": HOSTILE}]  # fmt: skip
        await seen.client.post("/api/turn/messages", params={**whose, "turn": "q"}, json={"messages": tools})
        await seen.client.post("/api/turn/reply", params={**whose, "turn": "q"}, json={"message": HOSTILE})
        await seen.client.post(
            "/api/items", params=owner, json={"text": HOSTILE, "attribute": "note", "value": HOSTILE}
        )
        await seen.go("people")
        await page.get_by_text("<img").first.click()
        await seen.sees("1 memory")
        assert await page.locator(".item-text").inner_text() == HOSTILE
        await page.locator(".item summary").click()
        await page.get_by_role("button", name="Forget everything").click()
        await seen.sees("To confirm, type the user id: " + HOSTILE)
        await page.keyboard.press("Escape")
        await page.get_by_role("link", name="Sessions").click()
        await page.locator("a.line").click()
        await page.locator("details[data-part=exact] summary").click()
        assert await page.locator(".message .words p").first.inner_text() == HOSTILE
        assert await page.locator("h1").inner_text() == HOSTILE
        assert HOSTILE in await page.title()
        assert await page.evaluate("window.wasPwned") is None
        assert (
            await page.evaluate("document.querySelectorAll('main img, main script, [onerror]').length") == 0
        )
        assert {url.partition("?")[0].rpartition("/")[0] for url in asked} <= {
            seen.server.url, f"{seen.server.url}/api", f"{seen.server.url}/page"
        }  # fmt: skip
        assert seen.complaints == []
        await page.evaluate("import('/page/dom.js').then(({h}) => document.body.append(h('p', {}, 'kept')))")
        refused = "document.body.insertAdjacentHTML('beforeend', '<i>no</i>')"
        with pytest.raises(playwright.Error, match="TrustedHTML"):
            await page.evaluate(refused)


async def test_a_key_is_asked_for_and_stays_in_the_tab(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key = add_key(path, name="ada's", tenant="shop", user="ada")
    async with looking(browser, keys=read_keys(path), locale="zh-CN") as seen:
        page = seen.page
        body = {"text": "用户喜欢绿茶", "attribute": "likes"}
        await seen.client.post("/api/items", json=body, headers={"x-actormem-key": key})
        await seen.go("")
        await page.get_by_role("textbox", name="密钥").fill("amk_wrong")
        await page.get_by_role("button", name="继续").click()
        await seen.sees("密钥被拒绝")
        await page.get_by_role("textbox", name="密钥").fill(key)
        await page.keyboard.press("Enter")
        await seen.sees("用户喜欢绿茶", "租户 shop", "实时")
        more = {"text": "用户住在杭州", "attribute": "address"}
        await seen.client.post("/api/items", json=more, headers={"x-actormem-key": key})
        await seen.sees("用户住在杭州", "地址", "2 条记忆")
        assert await page.evaluate("sessionStorage.length") == 1
        assert key not in await page.evaluate(
            "JSON.stringify(localStorage) + document.cookie + location.href"
        )
        await page.reload()
        await seen.sees("用户喜欢绿茶")
        await page.get_by_role("button", name="清除密钥").click()
        await seen.sees("这台服务器需要密钥")
        assert await page.evaluate("sessionStorage.length") == 0
        await page.get_by_role("button", name="取消").click()
        await seen.sees("需要密钥才能查看", "重试")


async def test_it_speaks_two_languages_in_two_colours_at_any_width_with_a_name_on_everything(
    browser: Any,
) -> None:
    settings = {"viewport": {"width": 400, "height": 800}, "color_scheme": "dark"}
    async with looking(browser, **settings) as seen:
        page = seen.page
        await seen.turn(
            "I live in Zanzibar, and my e-mail is a.very.long.address@example.org" + "x" * 90, "Noted.", "q"
        )
        await seen.server.runtime.settle()
        await seen.client.post("/api/items", params=ADA, json={"text": "y" * 300})
        places = {
            "people": ".line",
            "memories?user=ada&kinds=all": ".item",
            "memories?user=ada&q=Zanzibar": ".score",
            "memories?user=nobody": ".empty",
            "sessions?user=ada": ".line",
            "session?user=ada&session=s-1": ".message",
            "session?user=ada&session=s-1&turn=q": ".figures",
            "session?user=ada&session=nothing": ".problem",
        }
        for language, switch in (("en", "中文"), ("zh-CN", "English")):
            for place, shown in places.items():
                await seen.go(place)
                await playwright.expect(page.locator(shown).first).to_be_visible()
                if shown == ".item":
                    await page.locator(".item summary").first.click()
                assert await page.evaluate(TOO_WIDE) == [], place
                assert await page.evaluate(NAMELESS) == [], place
                assert await page.evaluate("document.querySelectorAll('h1').length") == 1
                assert await page.evaluate("document.documentElement.lang") == language
            await page.get_by_role("button", name=switch).click()
        assert await page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        await page.locator("#colours").click()
        await page.reload()
        assert await page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
        assert await page.evaluate(UNTRANSLATED) == []
        await page.keyboard.press("Tab")
        await seen.focuses("link", "Skip to content")
        await page.keyboard.press("Enter")
        await playwright.expect(page.get_by_role("main")).to_be_focused()
        assert [one for one in seen.complaints if "404" not in one] == []


TOO_WIDE = """[...document.querySelectorAll("body *")].filter(
  (one) => one.getBoundingClientRect().right > innerWidth + 1
).map((one) => one.outerHTML.slice(0, 99))"""
NAMELESS = """[...document.querySelectorAll("button, a, input, textarea, summary")].filter((one) => {
  const labels = [...(one.labels ?? [])].map((label) => label.textContent).join("");
  return !(one.getAttribute("aria-label") || labels || one.textContent).trim();
}).map((one) => one.outerHTML)"""
UNTRANSLATED = """Promise.all([import("/page/words_en.js"), import("/page/words_zh.js")]).then(([{ EN }, { ZH }]) => {
  const known = ["reasons", "attribute"];
  const sorts = Object.keys(EN).filter((sort) => !known.includes(sort));
  const slots = (text) => [...text.matchAll(/\\{(\\w+)\\}/g)].map((found) => found[1]).sort().join();
  return sorts.flatMap((sort) => [
    ...Object.keys(EN[sort]).filter((key) => !(key in ZH[sort])),
    ...Object.keys(ZH[sort]).filter((key) => !(key in EN[sort])),
    ...Object.keys(EN[sort]).filter((key) => slots(EN[sort][key]) !== slots(ZH[sort][key] ?? "")),
  ]);
})"""
