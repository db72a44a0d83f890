"""A report of `foretell report` in headless Chromium: whether it is drawn, zoomed, hovered, worked by keys, and named for screen readers.

    pip install playwright && playwright install chromium
    python compare/report_in_browser.py report.html [--chromium /usr/bin/chromium] [--pictures DIR]

Prints what was seen and how long it took; ends with 1 at the first thing that is not as it should be. Times are printed and not judged.
"""

import argparse
import pathlib
import sys

from playwright.sync_api import sync_playwright

# The share of a canvas that is painted, by its bytes of opacity.
PAINTED = """(canvas) => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let painted = 0;
  for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
  return painted / (data.length / 4);
}"""

# Every field and button that a screen reader meets has a name.
NAMELESS = """() => [...document.querySelectorAll('button, input, select, [tabindex]')].filter((field) => !field.closest('[hidden]')
  && !(field.textContent.trim() || field.getAttribute('aria-label') || (field.labels && field.labels.length))).length"""


def check(what, holds, found=""):
    print(f"{'ok ' if holds else 'NOT'} {what} {found}")
    if not holds:
        sys.exit(1)


def picture(page):
    page.wait_for_timeout(100)
    return page.locator("#series-chart canvas").evaluate("(canvas) => canvas.toDataURL()")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("report", type=pathlib.Path)
    arguments.add_argument("--chromium", help="the browser's program, where playwright did not install one")
    arguments.add_argument("--pictures", type=pathlib.Path, help="a folder for pictures of the page, light and dark")
    given = arguments.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        messages, asked = [], []
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(given.report.resolve().as_uri())
        page.wait_for_selector("#list tbody tr")
        timing = page.evaluate("() => performance.timing.loadEventEnd - performance.timing.navigationStart")
        series = page.evaluate("() => JSON.parse(document.getElementById('facts').textContent).ids.length")
        print(f"    {series} series, {given.report.stat().st_size} bytes, loaded in {timing} ms")
        check("only the file itself is loaded", len(asked) == 1, asked[1:])
        for chart in page.locator(".chart canvas").all():
            chart.scroll_into_view_if_needed()
            page.wait_for_timeout(100)
            share = chart.evaluate(PAINTED)
            check("a chart is drawn", share > 0.005, f"{share:.3f} of it painted")
        check("nothing without a name", page.evaluate(NAMELESS) == 0)
        check("no text of an id became markup", page.evaluate("() => window.hacked === undefined && !document.querySelector('img')"))

        mean = page.evaluate("""() => [...document.querySelectorAll('#list tbody td')].map((cell) => cell.textContent)""")
        sound = all(cell == "–" or 1e-6 < abs(float(cell)) < 1e12 or float(cell) == 0 for cell in mean)
        check("scores of series are numbers of a sound size", sound, mean[:3])

        whole = picture(page)
        plot = page.locator("#series-chart .plot")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100)
        page.wait_for_timeout(100)
        readout = page.locator("#series-chart output")
        check("hovering tells a value", "history" in readout.inner_text() or ":" in readout.inner_text(), readout.inner_text())
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 120, steps=5)
        page.mouse.up()
        page.mouse.move(5, 5)
        dragged = picture(page)
        check("dragging zooms", dragged != whole)
        plot.focus()
        page.keyboard.press("0")
        check("0 shows all again", picture(page) == whole)
        page.keyboard.press("End")
        last = readout.inner_text()
        page.keyboard.press("ArrowLeft")
        check("arrows go from value to value", readout.inner_text() != last, readout.inner_text())
        page.keyboard.press("+")
        check("plus zooms", picture(page) != whole)
        page.keyboard.press("Escape")

        if series > 1:
            before = page.locator("#chosen").inner_text()
            took = page.evaluate("""() => { const start = performance.now();
              document.querySelectorAll('#list tbody button')[1].click(); return performance.now() - start; }""")
            check("another series is chosen", page.locator("#chosen").inner_text() != before, f"in {took:.1f} ms")
            wanted = page.evaluate("() => JSON.parse(document.getElementById('facts').textContent).ids.at(-1)")
            took = page.evaluate("""(id) => { const start = performance.now(), field = document.getElementById('find');
              field.value = id; field.dispatchEvent(new Event('input')); return performance.now() - start; }""", wanted)
            found = page.locator("#list tbody button").first.inner_text()
            check("a series is found by its id", wanted in found or found == wanted, f"in {took:.1f} ms")
            page.locator("#list tbody button").first.focus()
            page.keyboard.press("Enter")
            check("and chosen by the keyboard", page.locator("#chosen").inner_text() == page.locator("#list [aria-current]").inner_text())
        page.locator("#behind summary").click()
        rows = page.locator("#behind tbody tr").count()
        check("a table is behind the chart", rows > 0, f"of {rows} rows")
        page.locator("#behind summary").click()
        light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        shots = [("light", light)]
        if given.pictures:
            given.pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=given.pictures / "light.png", full_page=True)
        bright = picture(page)
        page.emulate_media(color_scheme="dark")
        page.wait_for_timeout(200)
        shots.append(("dark", page.evaluate("() => getComputedStyle(document.body).backgroundColor")))
        check("dark has other colours, charts too", shots[0][1] != shots[1][1] and picture(page) != bright)
        if given.pictures:
            page.screenshot(path=given.pictures / "dark.png", full_page=True)
        check("no message on the console", not messages, messages)
        browser.close()


if __name__ == "__main__":
    main()
