"""The documentation is complete, and documents nothing that is not there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from discreet.cards.json_schema import make_json_schema
from discreet.cards.schema import walk_keys
from discreet.cli.app import root
from discreet.cli.file_schemas import FileKind, load_schema
from discreet.cli.files_page import files_page
from discreet.cli.reference import ENVIRONMENT, reference
from discreet.mechanisms import MECHANISMS
from tests.places import DOCS, ROOT


def commands(command: Any, path: str = "discreet") -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from commands(child, f"{path} {name}")
    else:
        yield path, command


COMMANDS = dict(commands(root()))


def test_the_reference_is_what_the_code_says() -> None:
    assert (DOCS / "reference.md").read_text(encoding="utf-8") == reference(), "run: make docs"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_option_is_in_the_reference(path: str) -> None:
    page = reference()
    section = page.split(f"### `{path}`\n")[1].split("\n### ")[0]
    command = COMMANDS[path]
    assert command.help
    assert command.epilog
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert all(f"`{option}`" in section for option in parameter.opts)
            assert parameter.help


def test_the_page_of_files_is_what_the_code_says() -> None:
    assert (DOCS / "files.md").read_text(encoding="utf-8") == files_page(), "run: make docs"


@pytest.mark.parametrize("kind", FileKind)
def test_the_published_schemas_are_what_the_code_says(kind: FileKind) -> None:
    published = json.loads((DOCS / "schemas" / f"{kind}.json").read_text(encoding="utf-8"))
    assert published == make_json_schema(load_schema(kind)), "run: make docs"
    assert {file.stem for file in (DOCS / "schemas").iterdir()} == set(FileKind)


@pytest.mark.parametrize("kind", FileKind)
def test_every_key_of_every_file_is_documented(kind: FileKind) -> None:
    page = files_page()
    assert all(f"`{path}`" in page for path, _ in walk_keys(load_schema(kind).fields))


def test_every_card_key_and_mechanism_is_documented() -> None:
    page = reference()
    assert all(f"`{path}`" in page for path, _ in walk_keys(load_schema(FileKind.CARD).fields))
    for name in MECHANISMS:
        assert f"### `{name}`" in page
        assert (DOCS / "proofs" / f"{name}.md").exists()


def test_environment_variables_are_documented_and_used() -> None:
    used = set()
    for file in (ROOT / "src").rglob("*.py"):
        used |= set(re.findall(r'"(DISCREET_[A-Z_]+)"', file.read_text(encoding="utf-8")))
    assert used == set(ENVIRONMENT)


def test_pages_name_only_commands_that_exist() -> None:
    words = {tuple(path.split()) for path in COMMANDS}
    groups = {path[:2] for path in words if len(path) == 3}
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"(?:^|\$ |`|: )discreet ([a-z]+)(?: ([a-z]+))?", text, re.MULTILINE):
            first, second = match.groups()
            known = ("discreet", first) in words or (("discreet", first) in groups and _member(first, second, words))
            assert known, f"{page.name}: {match.group(0)!r}"


def _member(group: str, name: str | None, words: set[tuple[str, ...]]) -> bool:
    return name is None or ("discreet", group, name) in words


def test_pages_name_only_options_that_exist() -> None:
    options = {"--help", "--fail-with-body"} | {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    for page in [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("guides/*.md"), *DOCS.glob("proofs/*.md")]:
        for code in re.findall(r"(?<!`)`[^`\n]+`(?!`)", page.read_text(encoding="utf-8")):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", code):
                assert option in options, f"{page.name}: {option} in {code}"


def test_pages_name_only_modules_that_exist() -> None:
    folders = ("src", "tests", "benchmarks", "examples", "replications")
    modules = {f"/{file.relative_to(ROOT).as_posix()}" for folder in folders for file in (ROOT / folder).rglob("*.py")}
    for page in [*DOCS.glob("*.md"), *DOCS.glob("guides/*.md"), *DOCS.glob("proofs/*.md")]:
        for named in re.findall(r"`([\w./]+\.py)`", page.read_text(encoding="utf-8")):
            assert any(module.endswith(f"/{named}") for module in modules), f"{page.name}: {named}"


def test_pages_outside_the_site_link_to_what_exists() -> None:
    for page in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_references_are_in_the_bibliography() -> None:
    keys = set(re.findall(r"@\w+\{(\w+),", (DOCS / "refs.bib").read_text(encoding="utf-8")))
    for file in [*(ROOT / "src").rglob("*.py"), *DOCS.rglob("*.md")]:
        for key in re.findall(r"\[([A-Z][A-Za-z]{2,4}\d\d)\b", file.read_text(encoding="utf-8")):
            assert key in keys, f"{file.name} cites [{key}]"


def test_no_machine_paths_in_the_project() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: the tracked files are not known")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ".sh", ".json"} and file.exists():
            assert not re.search(r"(?<![\w.])/(?:root|home/[a-z]+)/", file.read_text(encoding="utf-8")), name
