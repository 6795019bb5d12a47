"""Signing in over HTTP: links that work once, passwords, cookies that nobody else can use, and out again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from discreet.server.callers import SESSION_COOKIE
from tests.unit.server.serving import Asker, House, furnish, problem, serving

PASSWORD = "four words are enough here"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return furnish(tmp_path)


@pytest.fixture
def served(house: House) -> Iterator[Asker]:
    with serving(house) as asker:
        yield asker


def sign_in(ask: Asker, body: dict[str, str]) -> tuple[httpx.Response, str]:
    """The answer, and the secret of the session as the browser keeps it."""
    answer = ask(None, "POST", "/v1/session", body)
    return answer, answer.headers.get("set-cookie", "").partition(";")[0]


def make_link(ask: Asker) -> str:
    """One for ada, made by a custodian who is signed in."""
    link: str = ask.in_person("carl", "POST", "/v1/people/ada/link").json()["link"]
    return link


def test_a_link_signs_in_once_and_the_cookie_is_shut_in(served: Asker) -> None:
    link = make_link(served)
    answer, cookie = sign_in(served, {"link": link})
    assert (answer.status_code, answer.json()) == (200, {"name": "ada", "roles": ["analyst"]})
    said = answer.headers["set-cookie"].lower()
    assert said.startswith(f"{SESSION_COOKIE}=".lower())
    assert all(word in said for word in ("httponly", "secure", "samesite=strict", "path=/", "max-age=43200"))
    assert "domain" not in said
    assert served(None, "GET", "/v1/me", cookie=cookie).json()["via"] == "session"
    again, _ = sign_in(served, {"link": link})
    assert (again.status_code, problem(again)["error"]) == (401, "NotSignedIn")


def test_an_earlier_link_is_void(served: Asker) -> None:
    first, second = (make_link(served) for _ in range(2))
    assert sign_in(served, {"link": first})[0].status_code == 401
    assert sign_in(served, {"link": second})[0].status_code == 200


def test_a_password_signs_in_and_ends_other_sessions(served: Asker) -> None:
    def by_link() -> str:
        return sign_in(served, {"link": make_link(served)})[1]

    other, own = by_link(), by_link()
    for password, status in (("short", 400), (PASSWORD, 200)):
        body = {"password": password}
        assert served(None, "PUT", "/v1/me/password", body, cookie=own, origin=origin(served)).status_code == status
    assert served(None, "GET", "/v1/me", cookie=other).status_code == 401
    assert served(None, "GET", "/v1/me", cookie=own).status_code == 200
    answer, cookie = sign_in(served, {"name": "ada", "password": PASSWORD})
    assert answer.status_code == 200
    assert served(None, "GET", "/v1/me", cookie=cookie).status_code == 200


def test_what_does_not_sign_in_says_the_same_for_everybody(served: Asker) -> None:
    served.in_person("ada", "PUT", "/v1/me/password", {"password": PASSWORD})
    wrong = [
        {"name": "ada", "password": "not this one, surely"},
        {"name": "bob", "password": "has none at all here"},
        {"name": "nobody", "password": "is not known here"},
        {"link": "3e54f9de425a79da.wrong"},
        {"link": ""},
    ]
    found = [sign_in(served, body)[0] for body in wrong]
    assert {answer.status_code for answer in found} == {401}
    assert len({answer.text for answer in found}) == 1
    assert not any("set-cookie" in answer.headers for answer in found)


@pytest.mark.parametrize("body", [{}, {"name": "ada"}, {"name": "ada", "password": "x", "link": "y"}, {"user": "ada"}])
def test_half_a_sign_in_is_refused(served: Asker, body: dict[str, str]) -> None:
    assert problem(sign_in(served, body)[0])["status"] == 400


def test_guessing_is_slowed_down(served: Asker) -> None:
    statuses = [sign_in(served, {"name": "ada", "password": f"a guess, number {one}"})[0] for one in range(8)]
    assert statuses[0].status_code == 401
    assert statuses[-1].status_code == 429
    assert int(statuses[-1].headers["retry-after"]) >= 1
    assert problem(statuses[-1])["error"] == "TooManyRequests"


def test_a_page_of_another_site_cannot_use_a_session(served: Asker) -> None:
    _, cookie = sign_in(served, {"link": make_link(served)})
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {},
    ):
        answer = served(None, "POST", "/v1/tokens", {"days": 1}, cookie=cookie, **headers)
        assert answer.status_code == 403, headers
        assert "access-control-allow-origin" not in answer.headers
    assert served(None, "POST", "/v1/tokens", {"days": 1}, cookie=cookie, origin=origin(served)).status_code == 201


def test_signing_out_ends_the_session_here_not_in_the_browser_alone(served: Asker) -> None:
    _, cookie = sign_in(served, {"link": make_link(served)})
    out = served(None, "DELETE", "/v1/session", cookie=cookie, origin=origin(served))
    assert out.status_code == 200
    assert "max-age=0" in out.headers["set-cookie"].lower()
    assert served(None, "GET", "/v1/me", cookie=cookie).status_code == 401


def test_who_is_suspended_is_out_at_once(served: Asker) -> None:
    _, cookie = sign_in(served, {"link": make_link(served)})
    assert served("carl", "POST", "/v1/people/ada/suspend").status_code == 200
    assert served(None, "GET", "/v1/me", cookie=cookie).status_code == 401
    assert served("ada", "GET", "/v1/me").status_code == 401
    assert served("carl", "POST", "/v1/people/ada/restore").status_code == 200
    assert served("ada", "GET", "/v1/me").status_code == 200
    assert served(None, "GET", "/v1/me", cookie=cookie).status_code == 401


def test_a_token_is_shown_once_listed_without_its_secret_and_revoked(served: Asker) -> None:
    made = served.in_person("ada", "POST", "/v1/tokens", {"days": 3})
    token = made.json()["token"]
    assert made.headers["cache-control"] == "no-store"
    assert token not in served("ada", "GET", "/v1/tokens").text
    served.tokens["new"] = token  # type: ignore[index]
    assert served("new", "GET", "/v1/me").json()["name"] == "ada"
    others, none = (served("bob", "DELETE", f"/v1/tokens/{one}") for one in (made.json()["id"], "0" * 16))
    assert others.status_code == none.status_code == 404
    assert others.text.replace(made.json()["id"], "X") == none.text.replace("0" * 16, "X")
    assert served("ada", "DELETE", f"/v1/tokens/{made.json()['id']}").json()["revoked"] is True
    assert served("new", "GET", "/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "body", "most"),
    [("POST", "/v1/tokens", {"days": 3}, 20), ("PUT", "/v1/me/password", {"password": PASSWORD}, 5)],
)
def test_what_lets_somebody_in_is_made_so_often(
    served: Asker, method: str, path: str, body: dict[str, object], most: int
) -> None:
    own = served.own("ada")
    statuses = [served(None, method, path, body, **own).status_code for _ in range(most + 1)]
    assert set(statuses[:-1]) <= {200, 201}
    assert statuses[-1] == 429
    assert served.in_person("bob", method, path, body).status_code in (200, 201), "each counts for themselves"


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_page_a_link_leads_to_is_shut_in(served: Asker, language: str) -> None:
    page = served(None, "GET", f"/{language}/welcome")
    assert page.status_code == 200
    assert f'<html lang="{language}">' in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert " style=" not in page.text
    assert "<script>" not in page.text
    for name in ("welcome.js", "welcome.css"):
        assert served(None, "GET", f"/static/{name}").status_code == 200
    assert served(None, "GET", "/static/../app.py").status_code in (400, 404)
    assert served(None, "GET", "/de/welcome").status_code == 404


def origin(ask: Asker) -> str:
    return f"http://127.0.0.1:{ask.port}"
