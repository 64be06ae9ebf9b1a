"""The page in a real browser: no console errors, no requests, nothing cut off on a phone, colours for both schemes."""

import json
import shutil

import pytest

from mercer import bench

webdriver = pytest.importorskip("selenium.webdriver", reason="the browser tests need selenium")
support = pytest.importorskip("selenium.webdriver.support.ui", reason="the browser tests need selenium")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="the browser tests need Debian's chromium and chromium-driver"
)

OVERFLOWING = """
const width = document.documentElement.clientWidth, wrong = [];
for (const element of document.querySelectorAll('body *')) {
  if (element.closest('svg') && element.tagName !== 'svg') continue;
  const style = getComputedStyle(element);
  if (style.clipPath !== 'none' || element.classList.contains('skip')) continue;
  const box = element.getBoundingClientRect();
  if (box.width && (box.right > width + 1 || box.left < -1)) wrong.push([element.tagName, box.right]);
  const hidden = element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible';
  if (hidden) wrong.push(['cut', element.tagName]);
}
if (document.documentElement.scrollWidth > width) wrong.push(['page', document.documentElement.scrollWidth]);
return wrong;
"""

CONTRASTS = """
const parse = text => text.match(/[\\d.]+/g).map(Number);
const light = c => { const v = c / 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
const luminance = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
const behind = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const low = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own) continue;
  const style = getComputedStyle(element);
  const ink = parse(element.closest('svg') ? style.fill : style.color);
  const [a, b] = [luminance(ink), luminance(behind(element))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) low.push([element.tagName, element.className.baseVal || element.className, ratio]);
}
return low;
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    profile = tmp_path_factory.mktemp("profile")
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}")
    for flag in flags:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    driver.get("about:blank")
    yield driver
    driver.quit()


@pytest.fixture
def page(paper):
    bench.run("author_2020")
    return bench.report("author_2020")


def _open(driver, page, *, width, scheme="light"):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(page.as_uri())


def test_there_are_no_console_messages_and_no_requests_but_the_page(driver, page):
    _open(driver, page, width=1200)
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    # The browser's own start page may still be loading when the test begins.
    requests = [request["request"]["url"] for request in sent if request["documentURL"] == page.as_uri()]
    assert requests == [page.as_uri()]


def test_the_policy_lets_the_style_in_and_a_script_stays_out(driver, page):
    _open(driver, page, width=1200)
    assert driver.execute_script("return getComputedStyle(document.body).maxWidth") != "none"
    hostile = page.with_name("hostile.html")
    hostile.write_text(page.read_text().replace("</main>", "<script>document.title = 'run'</script></main>"))
    _open(driver, hostile, width=1200)
    assert driver.title != "run"
    assert any("Content Security Policy" in entry["message"] for entry in driver.get_log("browser"))


OPEN = "for (const d of document.querySelectorAll('details')) d.open = true"
UNSEEN = """
return [...document.querySelectorAll('details table')].filter(
  table => !table.checkVisibility({contentVisibilityAuto: true}) || table.getBoundingClientRect().height === 0).length
"""


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_nothing_is_cut_off(driver, page, width):
    _open(driver, page, width=width)
    driver.execute_script(OPEN)
    assert driver.execute_script(OVERFLOWING) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(driver, page, scheme):
    _open(driver, page, width=1000, scheme=scheme)
    driver.execute_script(OPEN)
    assert driver.execute_script(CONTRASTS) == []


def test_what_is_folded_away_on_the_screen_is_printed(driver, page):
    _open(driver, page, width=1000)
    assert driver.execute_script(UNSEEN) > 0
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        # What was hidden has a size from the next frame on.
        support.WebDriverWait(driver, 20).until(lambda it: it.execute_script(UNSEEN) == 0)
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_figures_follow_the_colour_scheme(driver, page):
    colours = []
    for scheme in ("light", "dark"):
        _open(driver, page, width=1000, scheme=scheme)
        colours.append(
            driver.execute_script(
                "return [...document.querySelectorAll('.plot [class*=stroke-]')].map(e => getComputedStyle(e).stroke)"
            )
        )
    assert colours[0]
    assert all(light != dark for light, dark in zip(*colours, strict=True))


@pytest.mark.parametrize("width", [360, 850, 1280])
def test_a_table_of_many_columns_fits(driver, paper, width):
    columns = ", ".join(f'"a rather long name {i}"' for i in range(9))
    text = (paper / "experiment.toml").read_text().replace('"here", "<script>alert(1)</script>"', columns)
    text = text.replace("data = [", 'kernel = ["k"]\ndata = [').replace('rows = ["data"]', 'rows = ["kernel"]')
    (paper / "experiment.toml").write_text(text)
    claims = (paper / "claims.toml").read_text()
    (paper / "claims.toml").write_text(claims[: claims.index("[[table]]")])
    bench.run("author_2020")
    _open(driver, bench.report("author_2020"), width=width)
    driver.execute_script(OPEN)
    assert driver.execute_script("return document.querySelectorAll('.wide').length") == 1
    assert driver.execute_script(OVERFLOWING) == []
