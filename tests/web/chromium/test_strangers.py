"""Who does not come from the printed address, or comes from another page, gets nothing."""

from __future__ import annotations

from web.chromium.conftest import REBOUND

FORM = """<!DOCTYPE html><title>Prize</title>
<form method="post" action="{target}"><button>Win</button></form>"""


def test_a_wrong_token_is_refused(browser, served):
    context = browser.new_context()
    page = context.new_page()
    for address in ("/", "/?token=wrong", "/?token="):
        assert page.goto(served.base + address).status == 403
        assert "Locked" in page.content()
    assert context.cookies() == []
    context.close()


def test_the_token_leaves_the_address_and_scripts_do_not_see_the_cookie(walk, served):
    assert walk.page.url == f"{served.base}/"
    (cookie,) = walk.page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert walk.page.evaluate("document.cookie") == ""


def test_the_form_of_a_foreign_page_is_refused(walk, served):
    # another port of this machine is the same site: the cookie comes along, the origin tells
    page, foreign = walk.page, "http://127.0.0.1:9/"
    before = {each.name for each in served.folder.iterdir()}
    page.route(foreign, lambda route: route.fulfill(
        content_type="text/html", body=FORM.format(target=f"{served.base}/new/sample")
    ))  # fmt: skip
    page.goto(foreign)
    with page.expect_navigation() as waited:
        page.get_by_role("button", name="Win").click()
    answer = waited.value
    sent = answer.request.all_headers()
    assert (sent["origin"], "cookie" in sent) == (foreign.rstrip("/"), True)
    assert answer.status == 403
    assert "does not come from a page of the workbench" in page.content()
    assert {each.name for each in served.folder.iterdir()} == before


def test_another_name_for_this_machine_is_refused(browser, served):
    context = browser.new_context()
    page = context.new_page()
    rebound = served.address.replace("127.0.0.1", REBOUND)
    assert page.goto(rebound).status == 400
    assert context.cookies() == []
    context.close()
