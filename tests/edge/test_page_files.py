"""The files of the page: how they are served, that they are small, and that no text can become HTML."""

import re
from itertools import product
from pathlib import Path

import pytest

from actormem.server.grants import add_key, read_keys
from actormem.server.pages import page_paths, page_routes
from tests.edge.served import asked

FOLDER = Path(__file__).parents[2] / "actormem/server/page"
SCRIPT_LINES = 250
LINE_COLUMNS = 125
CONTRAST_MIN = 4.5  # WCAG 2.2, level AA, for text
DANGEROUS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|\beval\b|"
    r"new Function|javascript:|setAttribute\(\"style|localStorage\.setItem\(KEY"
)


@pytest.fixture
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@pytest.mark.anyio
async def test_every_file_is_served_without_a_key_under_a_policy_that_runs_nothing_else(
    tmp_path: Path,
) -> None:
    add_key(tmp_path / "keys.json", name="k", tenant="", user="ada")
    keys = read_keys(tmp_path / "keys.json")
    async with asked(keys=keys, pages=page_routes(), open_paths=page_paths()) as (client, _):
        assert len(page_paths()) == len([one for one in FOLDER.iterdir() if one.is_file()])
        for path in page_paths():
            answer = await client.get(path)
            assert answer.status_code == 200, path
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            again = await client.get(path, headers={"if-none-match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        assert (await client.get("/")).text == (FOLDER / "index.html").read_text()
        for path in (
            "/page/../pages.py",
            "/page/%2e%2e/pages.py",
            "/page/",
            "/page/index.html",
            "/page/nothing",
        ):
            assert (await client.get(path)).status_code in (401, 404)
        assert (await client.get("/api/grant")).status_code == 401


@pytest.mark.anyio
async def test_a_link_from_another_site_opens_the_page_and_nothing_else(tmp_path: Path) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    async with asked(pages=page_routes(), open_paths=page_paths()) as (client, _):
        assert (await client.get("/", headers=followed)).status_code == 200
        assert (await client.get("/", headers={**followed, "sec-fetch-dest": "iframe"})).status_code == 403
        assert (await client.get("/api/owners", headers=followed)).status_code == 403


@pytest.mark.anyio
async def test_a_grant_says_whose_memory_a_key_opens(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    own, all_users = (add_key(path, name=str(user), tenant="shop", user=user) for user in ("ada", None))
    async with asked(keys=read_keys(path)) as (client, _):
        for key, user in ((own, "ada"), (all_users, None)):
            answer = await client.get("/api/grant", headers={"x-actormem-key": key})
            assert answer.json() == {"name": str(user), "tenant": "shop", "user": user}
    async with asked() as (client, _):
        assert (await client.get("/api/grant")).json() == {"name": "local", "tenant": None, "user": None}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.js")), ids=lambda path: path.name)
def test_scripts_are_short_and_put_texts_in_as_texts(path: Path) -> None:
    script = path.read_text(encoding="utf-8")
    if not path.name.startswith("words_"):
        assert script.count("\n") <= SCRIPT_LINES
        assert max(len(line) for line in script.splitlines() if ': "M' not in line) <= LINE_COLUMNS
    assert script.startswith("//"), "it does not say what it is"
    assert not DANGEROUS.findall(script)


def test_the_document_has_no_script_and_no_style_of_its_own() -> None:
    document = (FOLDER / "index.html").read_text()
    assert not re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)", document)
    assert re.findall(r"https?:", document) == []
    named = set(re.findall(r'"/page/([\w.]+)"', document))
    assert named == {one.name for one in FOLDER.iterdir()} - {"index.html"}


def test_colours_are_far_enough_apart_to_be_read_light_and_dark() -> None:
    styles = (FOLDER / "base.css").read_text()
    light, dark, by_system = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root[^{]*\{([^}]*)\}", styles)
    )
    assert dark == by_system
    assert set(dark) == set(light)
    for colours in (light, dark):
        texts = [*product(("ink", "soft"), ("paper", "surface", "sunken"))]
        texts += [("accent", "accent-wash"), ("danger", "danger-wash"), ("warn", "warn-wash")]
        texts += [*product(("accent", "danger", "warn"), ("paper", "surface")), ("accent-ink", "accent")]
        texts += [("soft", "accent-wash"), ("soft", "danger-wash")]
        for text, ground in texts:
            assert contrast(colours[text], colours[ground]) >= CONTRAST_MIN, (text, ground)
        for name in colours:  # parts of the bar, and edges of fields: level AA for what is no text
            if name.startswith("s-") or name == "edge":
                assert contrast(colours[name], colours["surface"]) >= 3.0, name


def contrast(one: str, other: str) -> float:
    """By the formula of WCAG 2.2: 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
