"""Every command of `discreet`, and the scenes in which its output is kept; or why it is not.

A scene is a file of this folder. `python -m tests.golden.outputs.write` writes them anew, all or those that are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from tests.golden.outputs import troubles
from tests.golden.outputs.linked_office import BANDS, HISTOGRAM, RATE, keep_answers
from tests.golden.outputs.linked_steps import agree, ask_and_draw, make_offices
from tests.golden.outputs.linked_study import lose_accounts, open_study
from tests.golden.outputs.objects import OBJECTS
from tests.golden.outputs.people_scenes import PEOPLE_SCENES
from tests.golden.outputs.recording import Scene
from tests.golden.outputs.refusals import REFUSALS
from tests.golden.outputs.stand_in import shelve_model

__all__ = ["LEFT_OUT", "SCENES", "list_scenes"]


def ways(command: str, formats: str = "table json csv", languages: str = "en fr") -> list[str]:
    """The command in every format and language; table and English are what it gives unasked."""
    return [
        command
        + ("" if format == "table" else f" --format {format}")
        + ("" if language == "en" else f" --lang {language}")
        for format, language in product(formats.split(), languages.split())
    ]


def plain(command: str) -> list[str]:
    """The command for people and for machines; it speaks English only, or says the same in both languages."""
    return ways(command, "table json", "en")


def written(command: str, endings: str, languages: str = "en fr") -> list[str]:
    """The command with a file of every ending, in every language."""
    pairs = product(endings.split(), languages.split())
    return [f"{command} --out t.{ending}" + ("" if language == "en" else " --lang fr") for ending, language in pairs]


def briefly(command: str, formats: str = "json csv") -> list[str]:
    """The command for people in both languages, and for machines in English."""
    return [*ways(command, "table"), *ways(command, formats, "en")]


def query(name: str, sql: str, more: str = "--epsilon 1", *, before: Sequence[str] = ()) -> Scene:
    """One question."""
    return Scene(f"query-{name}", briefly(f'query -w w "{sql}" {more}', "json"), before=before)


BY_TOWN: Final = "SELECT town, COUNT(*) AS people FROM clinic GROUP BY town"
MEANS: Final = (
    "SELECT smokes, AVG(age) AS age, SUM(age) / COUNT(age) AS ratio, MEDIAN(age) AS middle FROM clinic GROUP BY smokes"
)
REASONS: Final = "SELECT reason, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY reason"
JOINED: Final = "SELECT region, SUM(weight) AS people FROM clinic JOIN towns USING (town) GROUP BY region"
FARMED: Final = "SELECT AVG(output) AS mean FROM farms"
ASKED: Final = f'query -w w "{BY_TOWN}" --epsilon 1'
UNPROVEN: Final = f'lab ask -w w "{FARMED}" --epsilon 1 --strategy local'
GENERATED: Final = f'lab ask -w w "{FARMED}" --epsilon 1 --strategy generated'

TOWNS: Final = "table -w w clinic --by town,smokes --epsilon 1"
EXPLAINED: Final = "table explain -w w clinic --by town,smokes --epsilon 1"
MEAN: Final = "table -w w clinic --by town --value age --mean --epsilon 1"
BOOTSTRAP: Final = "lab bootstrap -w w farms --by status --value output --epsilon 1"
FILES: Final = ("t.txt", "t.xlsx", "t.parquet", "t.html")
ALL_FILES: Final = (*FILES, "t.svg")
ESTIMATE: Final = "local estimate survey.json reports.jsonl --trust survey.key.pub"
RUN: Final = "plan -w w work.yaml --run --request-id all"

READ: Final = "linked read --office researcher"
RATES: Final = f"{READ} {RATE} --population-share 0.045 --population 1000000"
PARTIES: Final = "researcher holder registry"
ASK: Final = "linked ask --office researcher --out new.env"
STUDY: Final[Mapping[str, Any]] = {"prepare": open_study, "empty": True}

SCENES: Final[Mapping[str, Sequence[Scene]]] = {
    **PEOPLE_SCENES,
    "query": [
        Scene("query-grouped", ways(ASKED)),
        Scene("query-means", ways(f'query -w w "{MEANS}" --epsilon 3')),
        Scene("query-sdmx", [f"{ASKED} --format sdmx-csv"]),
        Scene("query-files", [*written(ASKED, "txt xlsx html"), *written(ASKED, "parquet svg", "en")], files=ALL_FILES),
        Scene("query-means-files", written(f'query -w w "{MEANS}" --epsilon 3', "xlsx html", "en"), files=FILES),
        query("scalar", "SELECT COUNT(*) AS n FROM clinic WHERE age >= 65", "--epsilon 0.5 --request-id mine"),
        query("weighted", "SELECT town, SUM(weight) AS people, WAVG(age) AS age FROM clinic GROUP BY town"),
        query("open-keys", REASONS, "--epsilon 2 --delta 1e-7"),
        query("private-bounds", "SELECT AVG(income) AS income FROM clinic", "--epsilon 2"),
        query("bounds-not-found", "SELECT SUM(income) AS income FROM clinic", "--epsilon 0.01"),
        query("from-rows", "SELECT SUM(gain) AS gain FROM clinic"),
        query("joined", JOINED),
        query("public-size", "SELECT COUNT(*) AS farms FROM farms"),
        query("within", BY_TOWN, "--within people=10"),
        query("replayed", BY_TOWN, before=[ASKED]),
        Scene("query-explain", briefly(f'query -w w "{MEANS}" --epsilon 1 --explain --assume n=60')),
        Scene("query-explain-weighted", plain(f'query -w w "{JOINED}" --epsilon 1 --explain')),
        Scene("query-explain-open-keys", plain(f'query -w w "{REASONS}" --epsilon 1 --delta 1e-7 --explain')),
        Scene("query-explain-too-dear", plain(f'query -w w "{BY_TOWN}" --epsilon 5 --explain')),
        Scene("query-declined", [ASKED], terminal=True, stdin="n\n"),
        Scene("query-confirmed", [ASKED], terminal=True, stdin="y\n"),
    ],
    "table": [
        Scene("table-count", ways(TOWNS, "table json csv sdmx-csv")),
        Scene("table-count-files", written(TOWNS, "txt xlsx parquet html svg"), files=ALL_FILES),
        Scene("table-weighted", briefly(f"{TOWNS} --weighted --calibrate none")),
        Scene("table-calibrated", briefly(f"{TOWNS} --weighted", "json csv sdmx-csv")),
        Scene("table-calibrated-files", written(f"{TOWNS} --weighted", "txt xlsx html", "fr"), files=FILES),
        Scene("table-mean", briefly(MEAN)),
        Scene("table-mean-files", written(MEAN, "txt xlsx html", "fr"), files=FILES),
        Scene("table-total", plain("table -w w clinic --by town,age --value age --where \"smokes = '1'\" --epsilon 1")),
        Scene("table-suppressed", briefly(f"{TOWNS} --suppress-above 0.1 --leave-out missing --leave-out town=S")),
        Scene("table-gaussian", briefly("table -w w visits --by ward --epsilon 1 --noise gaussian")),
        Scene("table-replayed", briefly(TOWNS, "json"), before=[TOWNS]),
        Scene(
            "table-pictures",
            ways(f"{TOWNS} --out heat-map=heat.svg --out bars=bars.svg", "table"),
            files=["heat.svg", "bars.svg"],
        ),
        Scene("table-confirmed", [TOWNS], terminal=True, stdin="y\n"),
        Scene("table-old-spellings", [f"{TOWNS} --no-missing --margin town --explain", f"{TOWNS} --bars bars.svg"]),
    ],
    "table explain": [
        Scene("table-explain", briefly(EXPLAINED, "json")),
        Scene("table-explain-weighted", plain(f"{EXPLAINED} --weighted")),
    ],
    "history": [
        Scene("history", briefly("history -w w", "json"), before=[ASKED, TOWNS, ASKED]),
        Scene("history-mine", plain("history -w w --mine --limit 1"), before=[ASKED, TOWNS]),
        Scene("history-none", ways("history -w w", "table json")),
    ],
    "answers get": [
        Scene(
            "answers-get", [*briefly("answers get 9 -w w"), "answers get 99 -w w", "answers get 0 -w w"], before=[ASKED]
        ),
        Scene("answers-get-sdmx", ["answers get 9 -w w --format sdmx-csv"], before=[ASKED]),
        Scene(
            "answers-get-files",
            written("answers get 9 -w w", "xlsx html parquet svg", "fr"),
            before=[TOWNS],
            files=ALL_FILES,
        ),
    ],
    "lab ask": [
        Scene("lab-ask", ways(UNPROVEN)),
        Scene("lab-ask-files", written(UNPROVEN, "txt xlsx html parquet svg", "en"), files=ALL_FILES),
        Scene("lab-ask-sdmx", [f"{UNPROVEN} --format sdmx-csv"]),
        Scene("lab-ask-replayed", briefly(UNPROVEN, "json"), before=[UNPROVEN]),
        Scene("lab-ask-replace", plain(f'lab ask -w w "{FARMED}" --strategy replace'), prepare=shelve_model),
        Scene("lab-ask-generated", [f"{GENERATED} --format json"], prepare=shelve_model, blurred=True),
    ],
    "lab bootstrap": [
        Scene("lab-bootstrap", briefly(BOOTSTRAP, "json csv sdmx-csv")),
        Scene("lab-bootstrap-files", written(BOOTSTRAP, "txt xlsx html parquet svg", "fr"), files=ALL_FILES),
        Scene("lab-bootstrap-replayed", briefly(BOOTSTRAP, "json"), before=[BOOTSTRAP]),
        Scene("lab-bootstrap-declined", [BOOTSTRAP], terminal=True, stdin="n\n"),
    ],
    "lab examine": [
        Scene("lab-examine", plain("lab examine -w w farms --by status --value output --custodian")),
    ],
    "lab compare": [
        Scene("lab-compare", plain("lab compare -w w farms --by status --custodian --trials 2"), blurred=True),
    ],
    "plan init": [
        Scene("plan-init", ["plan init tables.yaml", "plan init tables.yaml"], files=["tables.yaml"], together=True),
    ],
    "plan": [
        Scene("plan", briefly("plan -w w work.yaml", "json")),
        Scene("plan-run", ways("plan -w w work.yaml --run --request-id all", "table json")),
        Scene("plan-run-shares", plain("plan -w w shared.yaml --run")),
        Scene(
            "plan-run-replayed",
            plain("plan -w w work.yaml --run --request-id all"),
            before=["plan -w w work.yaml --run --request-id all"],
        ),
        Scene("plan-run-files", written(f"{RUN}", "txt csv xlsx html parquet svg", "en"), files=(*ALL_FILES, "t.csv")),
        Scene("plan-run-sdmx", [f"{RUN} --format sdmx-csv"]),
        Scene("plan-too-dear", plain("plan -w w work.yaml --epsilon 0.1")),
    ],
    "caps": [
        Scene("caps", briefly("caps -w w clinic --epsilon 4")),
        Scene("caps-files", written("caps -w w clinic --epsilon 4", "xlsx html parquet svg", "en"), files=ALL_FILES),
        Scene("caps-sdmx", ["caps -w w clinic --epsilon 4 --format sdmx-csv"]),
        Scene("caps-explain", plain("caps -w w clinic --epsilon 4 --explain")),
    ],
    "budget": [
        Scene("budget", plain("budget -w w"), before=[ASKED, UNPROVEN, BOOTSTRAP]),
    ],
    "init": [
        Scene("init", ["init office", "init w", "init office --key key --anchor other/anchor"]),
    ],
    "add": [
        Scene("add", ["init v", "add -w v clinic.csv --yes", "add -w v clinic.csv --replace"], together=True),
        Scene("add-first", ["init v", "add -w v other.csv"], prepare=troubles.add_other_people, together=True),
        Scene("add-custodian", ["add -w w clinic.csv --replace --custodian"]),
        Scene("add-declined", ["add -w w other.csv"], prepare=troubles.add_other_people, terminal=True, stdin="n\n"),
    ],
    "refresh": [Scene("refresh", ["refresh -w w clinic", "refresh -w w nobody"], together=True)],
    "resume": [
        Scene(
            "resume", ["resume -w w clinic", "resume -w w clinic --custodian"], prepare=troubles.suspend, together=True
        ),
    ],
    "datasets": [
        Scene("datasets", ways("datasets -w w", "table json")),
        Scene(
            "datasets-none", ["init v", "datasets -w v", "budget -w v", "public list -w v"], together=True, empty=True
        ),
    ],
    "show": [
        Scene("show", ways("show -w w clinic", "table json")),
        Scene("show-open-keys", ways("show -w w visits", "table", "en")),
        Scene("show-custodian", plain("show -w w clinic --custodian")),
        Scene("show-suspended", ways("show -w w clinic", "table", "en"), prepare=troubles.suspend),
    ],
    "sensitivity": [
        Scene("sensitivity", plain("sensitivity -w w 'SELECT AVG(age) FROM clinic' --epsilon 1 --assume n=200")),
        Scene(
            "sensitivity-custodian",
            plain("sensitivity -w w 'SELECT SUM(output) FROM farms' --epsilon 1 --custodian --runs 2"),
            blurred=True,
        ),
    ],
    "belief": [
        Scene("belief", [*plain("belief --scale 30 --belief 0.8"), "belief --epsilon 1 --queries 10"]),
    ],
    "linked read": [
        Scene("linked-read", ways(RATES), prepare=keep_answers),
        Scene("linked-read-groups", briefly(f"{READ} {BANDS}"), prepare=keep_answers),
        Scene("linked-read-histogram", briefly(f"{READ} {HISTOGRAM}"), prepare=keep_answers),
        Scene("linked-read-sdmx", [f"{RATES} --format sdmx-csv"], prepare=keep_answers),
        Scene(
            "linked-read-files",
            [*written(f"{READ} {BANDS}", "txt xlsx html"), *written(f"{READ} {BANDS}", "parquet svg", "en")],
            prepare=keep_answers,
            files=ALL_FILES,
        ),
        Scene(
            "linked-read-refused",
            [
                f"{READ} {'0' * 32}",
                f"{READ} no.env",
                f"{READ} there.env",
                f"{READ} {RATE} --population 1000",
                f"{READ} {RATE} --population-share 2",
                f"{READ} {HISTOGRAM} --population-share 0.1",
                f"{READ} {RATE} --level 0.999999999",
                f"{READ} {RATE} --study cure",
                f"linked read {RATE} --office holder",
                f"linked read {RATE}",
            ],
            prepare=keep_answers,
        ),
    ],
    "linked init": [
        Scene("linked-init", ["linked init terms.yaml", "linked init no/terms.yaml"], files=["terms.yaml"], empty=True)
    ],
    "linked keys": [
        Scene(
            "linked-keys",
            [
                'linked keys clinic --role holder --name "Health agency"',
                "linked keys clinic --role judge --name Clinic",
                'linked keys clinic --role holder --name ""',
                "linked keys . --role holder --name Clinic",
            ],
        ),
    ],
    "linked agree": [
        Scene(
            "linked-agree",
            [
                *plain(f"linked agree terms.yaml {PARTIES} --out a.json"),
                "linked agree terms.yaml holder holder registry --out a.json",
                "linked agree terms.yaml researcher holder nobody --out a.json",
                f"linked agree wrong.yaml {PARTIES} --out a.json",
                f"linked agree none.yaml {PARTIES} --out a.json",
            ],
            prepare=make_offices,
            empty=True,
        ),
    ],
    "linked sign": [
        Scene(
            "linked-sign",
            [
                *plain("linked sign unsigned.json --office holder"),
                "linked sign agreement.json --office registry",
                "linked sign terms.yaml --office holder",
                "linked sign agreement.json",
            ],
            prepare=agree,
            empty=True,
        ),
    ],
    "linked open": [
        Scene(
            "linked-open",
            [
                "linked open agreement.json --office holder -w h/workspace",
                "linked open unsigned.json --office registry -w r/workspace --out link-key.env",
                "linked open agreement.json --office registry -w h/workspace --out link-key.env",
                "linked open agreement.json --office registry -w r/workspace --out link-key.env",
                "linked open agreement.json --office registry -w r/workspace --out again.env",
                "linked open agreement.json --office holder -w h/workspace --link-key agreement.json",
                "linked open agreement.json --office holder -w h/workspace --link-key link-key.env --format json",
                "linked open agreement.json --office researcher --map households.csv",
                "linked open agreement.json --office researcher",
                "budget -w r/workspace",
            ],
            prepare=agree,
            empty=True,
            together=True,
        ),
    ],
    "linked ask": [
        Scene(
            "linked-ask",
            [
                *plain(f"{ASK} --property francophone --where \"ill = 'yes'\""),
                f'{ASK} --property tongue --kind histogram --group "a: age < 9" --group "b: age > 8" --rate b=0.5',
                f"{ASK} --property francophon",
                f"{ASK} --property francophone --scale 31",
                f"{ASK} --property francophone --kind histogram",
                f"{ASK} --property francophone --where 'age >'",
                f"{ASK} --property francophone --group young",
                f"{ASK} --property francophone --rate 2",
                "linked ask --office holder --property francophone --out new.env",
            ],
            prepare=ask_and_draw,
            empty=True,
        ),
    ],
    "linked draw": [
        Scene(
            "linked-draw",
            [
                *plain("linked draw request.env --office holder --out new.env"),
                "linked draw junk.env --office holder --out new.env",
                "linked draw request.env --office holder --out sample.env",
                "linked draw request.env --office registry --out new.env",
            ],
            prepare=ask_and_draw,
            empty=True,
        ),
        Scene(
            "linked-draw-declined",
            ["linked draw request.env --office holder --out new.env"],
            prepare=ask_and_draw,
            empty=True,
            terminal=True,
            stdin="n\n",
        ),
    ],
    "linked count": [
        Scene(
            "linked-count",
            [
                *plain("linked count sample.env --office registry --out answer.env"),
                "linked count request.env --office registry --out answer.env",
                "linked count junk.env --office registry --out answer.env",
                "linked count none.env --office registry --out answer.env",
            ],
            prepare=ask_and_draw,
            empty=True,
        ),
    ],
    "linked tradeoff": [
        Scene(
            "linked-tradeoff",
            [
                *plain("linked tradeoff --scale 30 --belief 0.8 --people 100000 --out pictures"),
                "linked tradeoff --queries 100 --scale 50 --lang fr --out images",
                "linked tradeoff --scale 0.001 --belief 0.8 --lang fr",
                "linked tradeoff --scale 30 --belief 0.4",
                "linked tradeoff --scale 30 --belief 1",
                "linked tradeoff --scale 30 --belief 0.8 --prior 0",
                "linked tradeoff --scale 0 --belief 0.8",
                "linked tradeoff --scale nan --belief 0.8",
                "linked tradeoff --scale 30 --belief 0.8 --sample 0",
                "linked tradeoff --scale 30 --belief 0.8 --out clinic.yaml",
                "linked tradeoff --scale 1000000 --belief 0.8",
                "linked tradeoff --belief 0.8",
                "linked tradeoff",
            ],
        ),
    ],
    "linked audit": [
        Scene(
            "linked-audit",
            [
                *plain("linked audit --queries 1,4,5,200 --scale 3 --runs 500 --seed 7"),
                "linked audit --queries 1,42 --runs 200 --seed 7 --lang fr",
                "linked audit --queries 1,many",
                "linked audit --queries 0",
                "linked audit --runs 5",
                "linked audit --belief 0.4",
                "linked audit --scale 0",
                "linked audit --seed -1",
            ],
        ),
    ],
    "linked status": [
        Scene("linked-status-researcher", briefly("linked status --office researcher", "json"), **STUDY),
        Scene(
            "linked-status-holder",
            [
                *briefly("linked status --office holder --custodian", "json"),
                *ways("linked status --office holder", "table"),
            ],
            **STUDY,
        ),
        Scene(
            "linked-status-registry",
            [
                *briefly("linked status --office registry --custodian", "json"),
                "linked status --office registry --study tongues",
                "linked status --office registry --study other",
                "linked status --office nowhere",
            ],
            **STUDY,
        ),
        Scene(
            "linked-status-pages",
            [
                *ways("linked status --office registry --custodian --html t.html", "table"),
                "linked status --office researcher --html none/t.html",
            ],
            files=("t.html",),
            **STUDY,
        ),
    ],
    "linked verify": [
        Scene(
            "linked-verify",
            [
                *briefly("linked verify --office registry", "json"),
                *ways("linked verify --office holder", "table"),
                "linked verify --office researcher",
                "linked verify --office registry --write-off --custodian",
                "linked verify --office holder --write-off --custodian",
            ],
            **STUDY,
        ),
        Scene(
            "linked-verify-damaged",
            [
                *briefly("linked verify --office registry", "json"),
                "linked status --office registry --custodian",
                "linked verify --office registry --write-off",
                *briefly("linked verify --office registry --write-off --custodian", "json"),
            ],
            prepare=lose_accounts,
            empty=True,
        ),
    ],
    "linked close": [
        Scene(
            "linked-close",
            [
                "linked close --office registry",
                "linked close --office registry --reason done --yes",
                "linked close --office registry --yes",
                "linked status --office registry",
                "linked close --office holder --lang fr --yes",
                "linked close --office holder --format json --yes",
                "linked close --office researcher --yes",
            ],
            together=True,
            **STUDY,
        ),
        Scene(
            "linked-close-declined",
            ways("linked close --office registry", "table"),
            stdin="n\n",
            terminal=True,
            **STUDY,
        ),
    ],
    "doctor": [
        Scene("doctor", plain("doctor -w w --verify"), before=[ASKED], blurred=True),
        Scene(
            "doctor-failing",
            ["doctor -w w --budget-left 100", "doctor -w none"],
            prepare=troubles.suspend,
            blurred=True,
        ),
    ],
    "sample survey": [Scene("sample-survey", ["sample survey d --rows 1000"], empty=True)],
    "sample visits": [Scene("sample-visits", ["sample visits d --rows 1000"], empty=True)],
    "sample ce": [Scene("sample-ce", ["sample ce d"], empty=True, files=["d/ce.yaml"])],
    "sample linked": [
        Scene(
            "sample-linked",
            ["sample linked d --people 1000"],
            empty=True,
            files=["d/health.yaml", "d/registry.yaml", "d/registry-people.yaml"],
        )
    ],
    "card init": [
        Scene("card-init", ["card init visits.csv --out new.yaml", "card init visits.csv --out n.yaml --from-rows"]),
    ],
    "card check": [Scene("card-check", plain("card check clinic.yaml"))],
    "analyst add": [Scene("analyst-add", ["analyst add -w w maria"])],
    "analyst list": [Scene("analyst-list", plain("analyst list -w w"))],
    "population change": [
        Scene(
            "population-change",
            ["population change -w w --card clinic.yaml --custodian", "budget -w w --population patients"],
            prepare=troubles.raise_budget,
            together=True,
        ),
    ],
    "public add": [Scene("public-add", plain("public add -w w towns.csv --key town --replace"))],
    "public list": [Scene("public-list", plain("public list -w w"))],
    "public show": [Scene("public-show", plain("public show -w w towns"))],
    "ledger verify": [Scene("ledger-verify", plain("ledger verify -w w"), before=[ASKED])],
    "ledger log": [
        Scene("ledger-log", plain("ledger log -w w"), before=[f"{ASKED} --request-id mine", ASKED, BOOTSTRAP]),
        Scene("ledger-log-custodian", ["ledger log -w w --kind suspended --custodian"], prepare=troubles.suspend),
    ],
    "ledger backup": [Scene("ledger-backup", plain("ledger backup -w w kept.ledger"))],
    "ledger restore": [
        Scene(
            "ledger-restore",
            plain("ledger restore -w w kept.ledger --custodian"),
            before=["ledger backup -w w kept.ledger", ASKED],
            prepare=troubles.lose_ledger,
        ),
    ],
    "ledger anchor": [Scene("ledger-anchor", ["ledger anchor -w w --to other.anchor --custodian"])],
    "ledger key": [Scene("ledger-key", ["ledger key -w w --custodian"])],
    "ledger migrate": [Scene("ledger-migrate", ["ledger migrate -w w"])],
    "local init": [
        Scene(
            "local-init",
            ["local init clinic.yaml --epsilon 3 --groups town", "local init clinic.yaml --epsilon 3 --out m.yaml"],
        ),
    ],
    "local keys": [Scene("local-keys", ["local keys --out other.key"])],
    "local sign": [Scene("local-sign", plain("local sign survey.yaml --out s.json"))],
    "local show": [
        Scene("local-show", ways("local show survey.json --trust survey.key.pub --respondents 60", "table json")),
    ],
    "local encode": [
        Scene("local-encode", ["local encode survey.json answers.csv --out r.jsonl --trust survey.key.pub"]),
    ],
    "local estimate": [
        Scene("local-estimate", briefly("local estimate survey.json reports.jsonl --trust survey.key.pub")),
        Scene("local-estimate-files", written(ESTIMATE, "txt xlsx html parquet svg", "en"), files=ALL_FILES),
        Scene("local-estimate-sdmx", [f"{ESTIMATE} --format sdmx-csv"]),
        Scene("local-estimate-by", briefly("local estimate survey.json reports.jsonl --by town")),
        Scene("local-estimate-clear", plain("local estimate survey.json reports.jsonl --clear answers.csv")),
    ],
    "gan list": [
        Scene("gan-list", plain("gan list -w w"), prepare=shelve_model),
        Scene("gan-list-none", plain("gan list -w w")),
    ],
    "gan sample": [
        Scene("gan-sample", plain("gan sample -w w farms --rows 3 --out g.csv"), prepare=shelve_model, files=["g.csv"]),
    ],
    "gan inspect": [
        Scene("gan-inspect", plain("gan inspect -w w farms --rows 40 --custodian"), prepare=shelve_model, blurred=True),
    ],
    "study init": [
        Scene("study-init", ["study init s.yaml --dataset clinic.yaml clinic.csv"], files=["s.yaml"]),
    ],
    "study run": [
        Scene(
            "study-run",
            plain("study run study.yaml --out out --no-report --jobs 1"),
            together=True,
            blurred=True,
        ),
    ],
    "study report": [
        Scene(
            "study-report",
            ["study run study.yaml --out out --jobs 1", *plain("study report out")],
            together=True,
            blurred=True,
        ),
    ],
    "schema": [Scene("schema", ways("schema workload", "table"), empty=True)],
    "noise pictures": [
        Scene("noise-pictures", ["noise pictures d", "noise pictures d --lang fr", "noise pictures clinic.yaml"]),
    ],
}

PEOPLE: Final = "SELECT province, COUNT(*) AS people FROM survey GROUP BY province"
SMOKING: Final = "table -w office survey --by province,smoking --weighted --epsilon 0.25"
NEWCOMER: Final = (
    "--help",
    "init office",
    "sample survey data --rows 30000",
    "card check data/survey.yaml",
    "add -w office data/survey.parquet",
    "datasets -w office",
    "show -w office survey",
    "belief --epsilon 1",
    f'query -w office "{PEOPLE}" --epsilon 0.5 --explain',
    f'query -w office "{PEOPLE}" --epsilon 0.5',
    f'query -w office "{PEOPLE}" --epsilon 0.5',
    'query -w office "SELECT AVG(hieght) AS height FROM survey" --epsilon 0.2',
    'query -w office "SELECT sex, AVG(height) AS height FROM survey GROUP BY sex" --epsilon 0.2',
    "table explain -w office survey --by province,smoking --weighted --epsilon 0.25",
    f"{SMOKING} --out smoking.xlsx",
    SMOKING,
    f'query -w office "{PEOPLE}" --epsilon 9',
    "budget -w office",
    "ledger log -w office",
    "ledger verify -w office",
)
"""The first twenty commands of somebody who was told nothing but the name of the first."""
FIRST_DAYS: Final = (
    Scene("newcomer-english", NEWCOMER, together=True, empty=True),
    Scene("newcomer-french", [f"{line} --lang fr" for line in NEWCOMER], together=True, empty=True),
)

LEFT_OUT: Final[Mapping[str, str]] = {
    "gan train": "needs torch; tests/cli/test_gan.py runs it",
    "serve": "runs until it is ended; tests/cli/test_serve.py runs it",
    "work": "runs until it is ended; tests/cli/test_serve.py runs it",
    "linked serve": "runs until it is ended; tests/cli/test_linked_network.py runs it",
    "linked send": "needs an office that listens; tests/cli/test_linked_network.py runs it",
    "reproduce report": "runs for minutes; replications/tests/test_reproduce_report.py runs it",
    "reproduce bootstrap": "runs for minutes; replications/tests/test_reproduce_farms.py runs it",
    "reproduce thesis": "runs for minutes; replications/tests/test_reproduce_thesis.py runs it",
    "noise vectors": "long, and compared with another implementation in tests/unit/noise/test_twin.py",
}


def list_scenes() -> list[Scene]:
    """All of them."""
    objects = [Scene(f"python-{name}", python=show) for name, show in OBJECTS.items()]
    return [*(scene for scenes in SCENES.values() for scene in scenes), *FIRST_DAYS, *REFUSALS, *objects]
