"""The page of `foretell serve` in headless Chromium: a table is pasted, chosen as a file and dropped, forecast with intervals, compared
with what came, downloaded, and all of it by keys alone, with names for screen readers and without a request to anyone else.

    pip install playwright && playwright install chromium
    foretell serve --model model --listen 127.0.0.1:8080 &
    python compare/page_in_browser.py http://127.0.0.1:8080/ sales.csv [--chromium /usr/bin/chromium] [--pictures DIR]

The table is one that the server's first model reads. Prints what was seen; ends with 1 at the first thing that is not as it should be.
"""

import argparse
import pathlib
import sys

from playwright.sync_api import sync_playwright

# Every field and button that a screen reader meets has a name.
NAMELESS = """() => [...document.querySelectorAll('button, input, select, textarea, a, svg, [tabindex]')].filter((field) =>
  !field.closest('[hidden]') && !(field.textContent.trim() || field.getAttribute('aria-label')
  || field.getAttribute('aria-labelledby') || (field.labels && field.labels.length))).map((field) => field.outerHTML.slice(0, 80))"""

DROP = """(text) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], 'sales.csv', { type: 'text/csv' }));
  const area = document.getElementById('data');
  area.value = '';
  area.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def check(what, holds, found=""):
    print(f"{'ok ' if holds else 'NOT'} {what} {found}")
    if not holds:
        sys.exit(1)


def focus(page):
    return page.evaluate("() => document.activeElement.id || document.activeElement.tagName")


def forecast(page):
    """Waits for an answer or an error."""
    page.wait_for_function("() => !document.getElementById('run').disabled")
    page.wait_for_function("() => !document.getElementById('result').hidden || document.getElementById('problem').textContent")
    return page.locator("#problem").text_content()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split(":")[0])
    arguments.add_argument("address")
    arguments.add_argument("table", type=pathlib.Path)
    arguments.add_argument("--chromium", help="the browser's program, where playwright did not install one")
    arguments.add_argument("--pictures", type=pathlib.Path, help="a folder for pictures of the page, light and dark")
    given = arguments.parse_args()
    text = given.table.read_text()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 900}, accept_downloads=True)
        messages, asked = [], []
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(given.address)
        page.wait_for_function("() => document.getElementById('model').options.length > 0")
        check("the columns of the model are told", "," in page.locator("#columns").text_content(), page.locator("#columns").text_content())

        # By keys alone, in the order of the page.
        page.keyboard.press("Tab")
        check("the first key reaches the table", focus(page) == "data")
        page.keyboard.insert_text(text)
        order = []
        for _ in range(8):
            page.keyboard.press("Tab")
            order.append(focus(page))
            if order[-1] == "level":
                page.keyboard.type("80")
            if order[-1] == "run":
                break
        check("then all fields", order == ["file", "model", "h", "level", "token", "compare", "run"], order)
        page.keyboard.press("Enter")
        problem = forecast(page)
        check("the table is forecast", not problem, problem or page.locator("#status").text_content())
        check("focus goes to the answer", focus(page) == "heading")
        check("the picture has a history, a forecast and a band", page.locator("#chart path").count() >= 3)
        check("and is told in words", "band its interval" in page.locator("#caption").text_content(), page.locator("#caption").text_content())
        steps = int(page.locator("#h").input_value())
        check("the numbers stand in a table", page.locator("#table tr").count() == steps + 1)
        check("every field has a name", page.evaluate(NAMELESS) == [], page.evaluate(NAMELESS))
        with page.expect_download() as download:
            page.locator("#download").click()
        rows = pathlib.Path(download.value.path()).read_text().splitlines()
        series = page.locator("#series option").count()
        check("the download has every row", len(rows) == 1 + series * steps, f"{len(rows) - 1} rows of {series} series")
        if given.pictures:
            given.pictures.mkdir(parents=True, exist_ok=True)
            for scheme in ["light", "dark"]:
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=given.pictures / f"page-{scheme}.png", full_page=True)

        # A file, dropped and chosen; compared with what came.
        page.evaluate(DROP, text)
        page.wait_for_function("(length) => document.getElementById('data').value.length >= length - 1", arg=len(text))
        page.locator("#data").fill("")
        page.locator("#file").set_input_files(given.table)
        page.wait_for_function("(length) => document.getElementById('data').value.length >= length - 1", arg=len(text))
        page.locator("#compare").check()
        page.locator("#run").click()
        problem = forecast(page)
        check("the end is compared with the truth", not problem and "mean absolute error" in page.locator("#caption").text_content(), problem)

        # What the server refuses is said where a screen reader hears it.
        page.locator("#data").fill("nothing,of,use\n1,2,3\n")
        page.locator("#run").click()
        problem = forecast(page)
        check("an error says what to do", bool(problem), problem)
        check("it is announced", page.locator("#problem").get_attribute("role") == "alert")
        foreign = [url for url in asked if not url.startswith((given.address, "data:", "blob:"))]
        check("no one else is asked", not foreign, foreign)
        faults = [message for message in messages if "422" not in message and "400" not in message]
        check("the console is empty but for the refusal", not faults, faults)
        browser.close()


if __name__ == "__main__":
    main()
