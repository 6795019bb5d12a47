"""What people may try, against `discreet serve` in two processes: to be somebody else, to pay less, to see more."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from discreet.server.callers import SESSION_COOKIE
from tests.e2e.attacked import JSON, Office, attacked
from tests.unit.server.listening import Answer
from tests.unit.server.serving import COUNT, problem

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("attacks by people")]

CELLS: Final = "SELECT town, smokes, age, COUNT(*) AS n FROM clinic GROUP BY town, smokes, age"
WORKLOAD: Final = f"questions:\n  - name: n\n    sql: {COUNT}\n"
QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "queries": {"sql": COUNT, "epsilon": "0.1"},
    "tables": {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"},
    "workloads": {"workload": f"{WORKLOAD}epsilon: 0.1\n"},
    "explanations": {"sql": COUNT, "epsilon": "0.1"},
    "targets": {"sql": COUNT, "within": {"people": "100"}},
    "tables/plan": {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"},
    "workloads/plan": {"workload": f"{WORKLOAD}epsilon: 0.1\n"},
}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("people")
    with attacked(folder, "--no-slots", "--workers", "2", "--requests", "1000000") as found:
        yield found


@pytest.fixture(autouse=True)
def _stands(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "office" in request.fixturenames:
        office: Office = request.getfixturevalue("office")
        assert office.charges() == office.answered, "what was answered was charged, and nothing else"


def refused(answer: Answer, *statuses: int) -> dict[str, Any]:
    assert answer.status in statuses, answer
    assert answer.headers["content-type"] == ["application/problem+json"]
    found: dict[str, Any] = answer.json
    assert (found["status"], found["charged"]) == (answer.status, False)
    return found


# --- somebody else ------------------------------------------------------------------------------------------------

FORGED: Final = (
    *("X-User", "X-Remote-User", "Remote-User", "Remote_User", "X-Forwarded-User", "X-Forwarded-Email", "User-Name"),
    *("X-Auth-Request-User", "X-Authenticated-User", "X-WebAuth-User", "X-SSO-User", "X-User-Id", "X-Token-Subject"),
    *("X-Amzn-Oidc-Identity", "X-Goog-Authenticated-User-Email", "X-Ms-Client-Principal", "Client-Cert", "From"),
)
ROLES: Final = (
    "X-Role: custodian",
    "X-Roles: custodian,auditor",
    "X-Groups: custodian",
    "X-Forwarded-Groups: custodian",
)


def test_nobody_is_let_in_by_what_they_say_of_themselves(office: Office) -> None:
    ada, bob = (office.ask.tokens[name] for name in ("ada", "bob"))
    id, _, secret = ada.partition(".")
    other = f"{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}"
    basic = base64.b64encode(f"carl:{ada}".encode()).decode()
    carried = [
        *(f"{id}.{other}", f"{id}.", id, secret, f".{secret}", f"{id}.{bob.partition('.')[2]}", f"{id}.{secret[:-1]}"),
        *(f"{ada}x", f"x{ada}", f"{ada} {bob}", f"{ada},{bob}", ada.swapcase(), f"{id}..{secret}", f'"{ada}"'),
        *("null", "undefined", "", "' OR 1=1 --", "0" * 16 + "." + "A" * 43, "../../keys", "a." * 4_000),
    ]
    heads = [[f"Authorization: Bearer {one}"] for one in carried]
    heads += [[f"{name}: carl", *ROLES] for name in FORGED]
    heads += [
        [f"Authorization: {one}"] for one in (f"Basic {basic}", f"Token {ada}", ada, f"Bearer: {ada}", "Negotiate")
    ]
    heads += [[f"Cookie: {name}={ada}; user=carl; role=custodian"] for name in (SESSION_COOKIE, "session", "token")]
    heads += [[f"X-Authorization: Bearer {ada}"], [f"Proxy-Authorization: Bearer {ada}"], [f"X-Api-Key: {ada}"]]
    heads += [["Forwarded: for=127.0.0.1;by=carl"], ["X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1"]]
    answers = [office.fetch("GET", "/v1/me", *head) for head in heads]
    answers.append(office.fetch("GET", f"/v1/me?token={ada}&access_token={ada}&user=carl"))
    assert {refused(answer, 401)["error"] for answer in answers} == {"NotSignedIn"}
    assert {answer.headers["www-authenticate"][0] for answer in answers} == {"Bearer"}
    assert len({answer.body for answer in answers}) == 1, "in the same words, whatever was wrong"


def test_a_role_that_is_forged_is_not_had(office: Office) -> None:
    lines = [office.bearer("ada"), *(f"{name}: carl" for name in FORGED), *ROLES, "Cookie: role=custodian"]
    assert office.fetch("GET", "/v1/me", *lines).json["roles"] == ["analyst"]
    for path in ("people", "people/bob", "grants", "proposals", "ledger/events"):
        refused(office.fetch("GET", f"/v1/{path}?role=custodian&as=carl", *lines), 403)
    two = [office.bearer("ada"), office.bearer("carl")]
    assert office.fetch("GET", "/v1/me", *two).status in (200, 400, 401)
    refused(office.fetch("GET", "/v1/people", *two), 400, 401, 403)


def test_nobody_raises_themselves(office: Office) -> None:
    """What analysts, reviewers and auditors try at the register of people; it stands as before."""
    before = register(office)
    tried: list[tuple[str, str, Any]] = [
        ("POST", "people", {"name": "eve", "roles": ["custodian"]}),
        ("POST", "people/{who}/roles", {"role": "custodian"}),
        ("POST", "people/bob/suspend", None),
        ("POST", "people/carl/link", None),
        ("POST", "people/{who}/link", None),
        ("DELETE", "people/carl/roles/custodian", None),
        ("POST", "grants", {"person": "ada", "dataset": "ward"}),
        ("DELETE", "grants/ada/clinic", None),
        ("POST", "proposals/1/confirm", None),
        ("POST", "datasets/clinic/resume", None),
    ]
    for who in ("ada", "rita", "aud"):
        for method, path, body in tried:
            answer = office.ask(who, method, f"/v1/{path.format(who=who)}", body)
            assert problem(answer)["error"] == "NotAllowed", (who, path)
    for who in ("ada", "carl"):
        for named in ({"person": "cora"}, {"name": "cora"}, {"who": "cora"}, {"roles": ["custodian"]}):
            assert problem(office.ask.in_person(who, "POST", "/v1/tokens", {"days": 1, **named}))["status"] == 400
    assert register(office) == before


def register(office: Office) -> list[Any]:
    tokens = office.ask("carl", "GET", "/v1/tokens").json()["tokens"]
    kept = [(token["id"], token["person"], token["expires"], token["revoked"]) for token in tokens]
    return [kept, *(office.ask("carl", "GET", f"/v1/{path}").json() for path in ("people", "grants", "proposals"))]


def test_a_stolen_token_makes_nothing_that_outlasts_it(office: Office) -> None:
    """Until it is revoked it asks; another token, a password or a link would stay."""
    before = register(office)
    password = "four words of a thief"
    for who in ("ada", "carl", "cora", "aud", "rita"):
        for method, path, body in (
            ("POST", "tokens", {"days": 365}),
            ("PUT", "me/password", {"password": password}),
            ("POST", f"people/{who}/link", None),
            ("POST", "people/bob/link", None),
        ):
            assert problem(office.ask(who, method, f"/v1/{path}", body))["error"] == "NotAllowed"
    assert register(office) == before
    assert office.ask(None, "POST", "/v1/session", {"name": "carl", "password": password}).status_code == 401


# --- pages of other sites -----------------------------------------------------------------------------------------


def test_a_page_of_another_site_does_nothing_with_somebodys_session(office: Office) -> None:
    link = office.ask.in_person("carl", "POST", "/v1/people/ada/link").json()["link"]
    signed = office.ask(None, "POST", "/v1/session", {"link": link})
    cookie = signed.headers["set-cookie"].partition(";")[0]
    office.marks += [link, cookie.partition("=")[2]]
    own, asked = f"http://127.0.0.1:{office.port}", json.dumps(QUESTIONS["queries"]).encode()
    pages: list[list[str]] = [
        *([f"Origin: {origin}"] for origin in ("https://evil.example", "null", f"{own}.evil.example", f"{own}0", "")),
        *([f"Sec-Fetch-Site: {site}"] for site in ("cross-site", "same-site", "none")),
        [f"Origin: {own}", "Sec-Fetch-Site: cross-site"],
        [f"Origin: {own}", "Origin: https://evil.example"],
        [f"Referer: {own}/en/welcome"],
        [],
    ]
    for number, lines in enumerate(pages):
        named = [f"Cookie: {cookie}", f"Idempotency-Key: page-{number}", *lines]
        for method, path, body in (
            ("POST", "queries", asked),
            ("POST", "tokens", b'{"days": 1}'),
            ("PUT", "me/password", b'{"password": "chosen by another page"}'),
            ("DELETE", "tokens/0000000000000000", b""),
            ("DELETE", "session", b""),
        ):
            sort = [JSON] if body else []
            answer = office.fetch(method, f"/v1/{path}", *named, *sort, body=body, host=f"127.0.0.1:{office.port}")
            refused(answer, 403)
    assert office.ask(None, "GET", "/v1/me", cookie=cookie).json()["name"] == "ada"


@pytest.mark.parametrize(
    "sort", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "text/json", ""]
)
def test_a_form_asks_nothing(office: Office, sort: str) -> None:
    """A form of another page sends these without asking first."""
    body = json.dumps(QUESTIONS["queries"]).encode()
    lines = [office.bearer("ada"), f"Idempotency-Key: {office.mark()}", f"Content-Type: {sort}"]
    refused(office.fetch("POST", "/v1/queries", *lines, body=body), 415)
    refused(office.fetch("POST", "/v1/queries", *lines[:2], body=body), 415)


# --- less protection ----------------------------------------------------------------------------------------------

MORE: Final = {
    **{"seed": 1, "noise_off": True, "epsilon_override": "0", "now": "2020-01-01T00:00:00Z", "analyst": "bob"},
    **{"request_id": "mine", "who": "carl", "person": "bob", "custodian": True, "confirm": True, "exact": True},
    **{"entropy": "AAAA", "mechanism": "none", "scale": "0", "sensitivity": "0", "clamp": False, "charge": "0"},
    **{"slots": False, "version": 1, "engine": "duckdb", "path": "/etc/passwd", "true_values": True, "debug": True},
    **{"__proto__": {}, "__class__": "x", "epsilon ": "0.1", "Epsilon": "9", "sql2": "SELECT 1"},
}


@pytest.mark.parametrize("path", QUESTIONS)
def test_there_is_no_word_for_less_protection(office: Office, path: str) -> None:
    for name, value in MORE.items():
        answer = office.send(f"/v1/{path}", json.dumps({**QUESTIONS[path], name: value}).encode())
        found = refused(answer, 400)
        assert found["message"] == "a field is not known here. What there is: GET /v1/openapi.json"
        assert (found["fields"], found.keys() & {"problems"}) == ({}, set())


def test_a_seed_beside_the_body_is_none(office: Office) -> None:
    """In the address, in headers and in cookies: each draw is another all the same."""
    body, drawn = {"sql": CELLS, "epsilon": "0.1", "fresh": True}, []
    for _ in range(3):
        key = uuid.uuid4().hex
        more = {"x_seed": "1", "seed": "1", "x_noise": "off", "x_epsilon": "0", "cookie": "seed=1; noise=off"}
        more["origin"] = f"http://127.0.0.1:{office.port}"
        found = office.ask("ada", "POST", "/v1/queries?seed=1&noise=off&epsilon=0&analyst=bob", body, key=key, **more)
        assert found.status_code == 200
        assert found.json()["charge"]["epsilon"] == "0.1"
        office.answered["ada", key] = 1
        drawn.append(json.dumps(found.json()["rows"]))
    assert len(set(drawn)) == 3


EPSILONS: Final = [
    "-1",
    "0",
    "-0",
    "0.0",
    "NaN",
    "sNaN",
    "Infinity",
    "-Infinity",
    "inf",
    "1e400",
    "5e-324",
    "\uff11",
    "1_0",
    "",
]
EPSILONS_OF_OTHER_SORTS: Final = [0.1, 1, -1, True, None, ["1"], {"value": "1"}]


@pytest.mark.parametrize("path", ["queries", "tables", "workloads", "explanations", "tables/plan", "workloads/plan"])
def test_an_epsilon_is_an_exact_decimal_as_text_and_above_nothing(office: Office, path: str) -> None:
    more = [" 1", "1 ", "+1", "0x1", "1/3", "1,5", "1e-400", "1e999999999", "1" * 61, "\u0661", "1\n", "0.0000000001"]
    for epsilon in (*EPSILONS, *more, *EPSILONS_OF_OTHER_SORTS):
        if epsilon is None and "workloads" in path:
            continue  # the workload's own
        body = json.dumps({**QUESTIONS[path], "epsilon": epsilon}).encode()
        refused(office.send(f"/v1/{path}", body), 400)


# --- keys ---------------------------------------------------------------------------------------------------------


def test_a_key_is_one_question_of_one_person(office: Office) -> None:
    key = uuid.uuid4().hex
    first = office.query("ada", key=key)
    for other in ({"sql": CELLS}, {"epsilon": "0.2"}, {"sql": f"{COUNT} WHERE age > 5"}):
        body = {"sql": COUNT, "epsilon": "0.1", "fresh": True, **other}
        again = office.ask("ada", "POST", "/v1/queries", body, key=key)
        assert (again.status_code, problem(again)["error"]) == (409, "RequestConflict"), other
    for path in ("tables", "workloads"):
        assert office.ask("ada", "POST", f"/v1/{path}", QUESTIONS[path], key=key).status_code == 409
    others = office.query("bob", key=key)
    assert (others["replayed"], first["replayed"]) == (False, False)
    assert office.query("ada", key=key)["rows"] == first["rows"]
    assert office.query("bob", key=key)["rows"] == others["rows"]


def test_a_key_is_a_name_and_is_needed(office: Office) -> None:
    asked = json.dumps(QUESTIONS["queries"]).encode()
    for key in ("k" * 10_000, "k" * 64, "a b", "a/b", "../a", "", "a,b", "a;b", '"a"', "{a}", "a\\nb", "-" * 64):
        refused(
            office.fetch("POST", "/v1/queries", office.bearer("ada"), JSON, f"Idempotency-Key: {key}", body=asked), 400
        )
    refused(office.fetch("POST", "/v1/queries", office.bearer("ada"), JSON, body=asked), 400)
    refused(
        office.fetch("POST", f"/v1/queries?Idempotency-Key={office.mark()}", office.bearer("ada"), JSON, body=asked),
        400,
    )


def test_a_key_is_not_another_way_to_somebody_elses_answer(office: Office) -> None:
    key = uuid.uuid4().hex
    office.query("ada", key=key)
    numbers = [item["answer"] for item in office.ask("bob", "GET", "/v1/history?limit=1000").json()["history"]]
    assert key not in office.ask("bob", "GET", "/v1/history?limit=1000").text
    for number in (0, -1, max(numbers, default=0) + 1, 2**31, 2**63, 10**30):
        assert office.ask("bob", "GET", f"/v1/answers/{number}").status_code == 404
    for job in (key, "0" * 32):
        assert office.ask("bob", "GET", f"/v1/jobs/{job}").status_code == 404


# --- guessing -----------------------------------------------------------------------------------------------------


def test_all_processes_count_explanations_together(office: Office) -> None:
    asked, token = QUESTIONS["explanations"], office.ask.tokens["bob"]
    with office.at_each_worker() as lines:
        assert len(lines) == 2
        statuses = [
            office.ask_by(lines[number % 2], "POST", "/v1/explanations", asked, token=token) for number in range(124)
        ]
    assert statuses == [200] * 120 + [429] * 4


@pytest.fixture(scope="module")
def guessed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Where a person may ask four times a minute, and an address twenty times."""
    with attacked(tmp_path_factory.mktemp("guessed"), "--no-slots", "--workers", "2", "--requests", "4") as found:
        yield found


def test_guesses_of_passwords_are_counted_by_all_processes_together(guessed: Office) -> None:
    """And whoever goes on is not told that a guess was right."""
    password = "four words that ada chose"
    guessed.marks.append(password)
    assert guessed.ask.in_person("ada", "PUT", "/v1/me/password", {"password": password}).status_code == 200
    with guessed.at_each_worker() as lines:
        assert len(lines) == 2
        guesses = [{"name": "ada", "password": f"{guessed.mark()} {number}"} for number in range(5)]
        statuses = [guessed.ask_by(lines[n % 2], "POST", "/v1/session", guess) for n, guess in enumerate(guesses)]
        assert statuses == [401] * 5
        for line in lines:
            assert guessed.ask_by(line, "POST", "/v1/session", {"name": "ada", "password": password}) == 429
            assert guessed.ask_by(line, "POST", "/v1/session", {"name": "bob", "password": "any that he has"}) == 429


def test_guesses_of_tokens_are_counted_by_all_processes_together(guessed: Office) -> None:
    id = guessed.ask.tokens["carl"].partition(".")[0]
    with guessed.at_each_worker() as lines:
        assert len(lines) == 2
        statuses = [
            guessed.ask_by(lines[number % 2], "GET", "/v1/me", token=f"{id}.{guessed.mark()}") for number in range(40)
        ]
        told = statuses.count(401)
        assert statuses == [401] * told + [429] * (40 - told)
        assert 15 <= told <= 20, "some were asked by the test before"
        assert guessed.ask_by(lines[0], "GET", "/v1/me", token=guessed.ask.tokens["carl"]) == 429


def test_what_is_counted_is_kept_under_no_name_and_no_address(guessed: Office) -> None:
    kept = b"".join(
        file.read_bytes() for file in guessed.ask.path.rglob("*") if file.is_file() and "office" in file.name
    )
    assert kept
    assert b"127.0.0.1" not in kept
    assert not [mark for mark in guessed.marks if mark.encode() in kept]
    assert not [token for token in guessed.ask.tokens.values() if token.partition(".")[2].encode() in kept]


# --- what is wrong inside -----------------------------------------------------------------------------------------


def test_what_is_wrong_inside_is_told_to_the_office_alone(tmp_path: Path) -> None:
    """Rows that cannot be read, and a ledger that does not hold: no path, no trace, no name of a library."""
    with attacked(tmp_path, "--no-slots") as office:
        office.query()
        (office.ask.path / "datasets" / "clinic" / "v1" / "data.parquet").write_bytes(b"no longer")
        asked, anchor = (
            json.dumps({**QUESTIONS["queries"], "epsilon": "0.2"}).encode(),
            f'{{"anchor": "{office.mark()}"}}',
        )
        key = f"Idempotency-Key: {uuid.uuid4().hex}"
        found = [
            office.fetch("POST", "/v1/queries", office.bearer("ada"), key, JSON, body=asked),
            office.fetch("POST", "/v1/ledger/verify", office.bearer("aud"), JSON, body=anchor.encode()),
        ]
        assert [(answer.status, answer.json["charged"]) for answer in found] == [(503, True), (503, False)]
        for answer in found:
            assert not [word for word in ("sqlite", "duckdb", "parquet", ".py", "anchor") if word in str(answer.json)]
        refused(office.fetch("POST", "/v1/queries", office.bearer("bob"), key, JSON, body=asked), 423)
        told = office.said.removeprefix(office.begun)
        assert "LedgerDamaged" in told
        assert "Traceback" not in told
        assert not [one for one in (*office.marks, *office.ask.tokens.values(), COUNT) if one in told]


def test_after_all_of_it_the_office_answers_and_has_told_nothing(office: Office, guessed: Office) -> None:
    office.require_unharmed()
    assert guessed.said == guessed.begun
