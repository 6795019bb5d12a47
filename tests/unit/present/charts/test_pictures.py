"""Pictures of tables show every figure or say what they leave out, and carry what is promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import PathInvalid
from discreet.guarantees.types import ZCDP, ApproxDP, BootstrapDP, Guarantee, LocalDP, PureDP, ShuffleDP, Unproven
from discreet.present.charts.chart_panels import PictureLimits, choose_view
from discreet.present.charts.drawing import ALARM, shade
from discreet.present.charts.pictures import draw_bars, draw_heat_map, picture_file, write_picture
from discreet.present.pages.html_page import Drawn
from discreet.present.words import tell_guarantee
from discreet.results import Quality, Release
from tests.releases import make_table, put_figures

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = pytest.mark.parametrize("draw", [draw_heat_map, draw_bars])
Draw = Callable[[Release, str], Drawn]


def texts(drawn: Drawn) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(picture_file(drawn).encode()).iter(f"{SVG}text")]


def fills(drawn: Drawn) -> Iterator[str]:
    for one in ElementTree.fromstring(drawn.svg).iter(f"{SVG}rect"):
        yield one.attrib["fill"]


# --- what every picture carries ---------------------------------------------------------------------------------------


@PICTURES
def test_it_names_guarantee_epsilon_and_what_is_covered(draw: Draw, counted: Release) -> None:
    english, french = (" ".join(texts(draw(counted, language))).replace("\u00a0", " ") for language in ("en", "fr"))
    assert (
        "Protects each person: the figures would look almost the same whether or not any one person had taken part. "
        "Differential privacy, epsilon = 0.5: no result is more than 1.65 times as likely because of the data of any "
        "one participant. 95% intervals and quality: privacy noise only."
    ) in english
    assert "Protège chaque personne : les chiffres seraient presque les mêmes" in french
    assert "Confidentialité différentielle, epsilon = 0,5 : les données" in french
    assert "bruit de confidentialité seulement" in french
    assert ALARM not in draw(counted, "en").svg


@PICTURES
@pytest.mark.parametrize("guarantee", [BootstrapDP(epsilon=1), Unproven("bounds: from rows")])
def test_what_is_not_private_says_so_in_red(draw: Draw, guarantee: Guarantee) -> None:
    table = make_table({"a": ["x", "y"]}, lambda _: 5, half=None, quality=Quality.NOT_RATED, guarantee=guarantee)
    for language, said in (("en", "Not differentially private."), ("fr", "Sans confidentialité différentielle.")):
        root = ElementTree.fromstring(draw(table, language).svg)
        red = [one.text or "" for one in root.iter(f"{SVG}text") if one.attrib["fill"] == ALARM]
        assert red
        assert red[0].startswith(said)


@PICTURES
def test_the_same_table_gives_the_same_picture(draw: Draw, counted: Release) -> None:
    assert draw(counted, "fr") == draw(counted, "fr")


@PICTURES
@settings(max_examples=25, deadline=None)
@given(labels=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4), value=st.integers(-9, 10**6))
def test_any_label_gives_a_well_formed_file(draw: Draw, labels: list[str], value: int) -> None:
    table = make_table({"a": labels, "b": labels}, lambda places: value * places[0])
    root = ElementTree.fromstring(picture_file(draw(table, "en")).encode("utf-8"))
    assert not [one for one in root.iter() if one.tag.removeprefix(SVG) in {"script", "a", "image", "foreignObject"}]


@PICTURES
@pytest.mark.parametrize("value", [0, -5, 10**40, None])
@pytest.mark.parametrize("half", [None, 0, 3.5])
def test_odd_figures_are_drawn(draw: Draw, value: int | None, half: float | None) -> None:
    for keys in ({"a": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 2, "c": 3}):
        table = make_table(dict(keys), lambda _: value, half=half)
        assert picture_file(draw(table, "fr"))


@PICTURES
@pytest.mark.parametrize("keys", [{"a": 3}, {"a": 4, "b": 3}, {"a": 2, "b": 3, "c": 2}, {"a": 30, "b": 14}])
def test_type_has_eight_points_on_half_a_page_or_a_whole_one(draw: Draw, keys: dict[str, Sequence[str] | int]) -> None:
    root = ElementTree.fromstring(draw(make_table(keys, lambda places: 10 ** sum(places)), "fr").svg)
    width = float(root.attrib["width"])
    points = (595 if width > 480 else 595 / 2) / width
    assert min(float(one.attrib["font-size"]) for one in root.iter(f"{SVG}text")) * points >= 8


# --- the heat map -----------------------------------------------------------------------------------------------------


def test_cells_are_shaded_by_value_and_margins_are_not() -> None:
    table = make_table({"a": ["r", "s"], "b": ["t", "u"]}, lambda places: 10 * places[0] + 5 * places[1])
    drawn = draw_heat_map(table, "en")
    groups = list(ElementTree.fromstring(drawn.svg).iter(f"{SVG}g"))
    found = {}
    for group in groups:
        title, rectangle = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert rectangle is not None
        found[title.text] = rectangle.attrib["fill"]
    assert found["r, t: 0 (−10 to 10)"] == shade(0)
    assert found["s, u: 15 (5 to 25)"] == shade(1)
    assert found["All, All: 30 (20 to 40)"] == "#ffffff"
    assert found["s, All: 25 (15 to 35)"] == "#ffffff"
    assert len(found) == 9


def test_quality_is_hatched_and_lettered() -> None:
    table = make_table({"a": ["r", "s"]}, lambda _: 7, quality=Quality.CAUTION)
    drawn = draw_heat_map(table, "en")
    assert "7\u00a0E" in texts(drawn)
    assert "E\u00a0\u00a0use with caution" in texts(drawn)
    assert "<path" in drawn.svg
    plain = draw_heat_map(make_table({"a": ["r", "s"]}, lambda _: 7), "en")
    assert "<path" not in plain.svg
    assert not any("caution" in one for one in texts(plain))


def test_suppressed_cells_are_grey_with_a_dash() -> None:
    drawn = draw_heat_map(make_table({"a": ["r", "s"]}, lambda places: None if places[0] else 3, margins=()), "fr")
    assert "–" in texts(drawn)
    assert "–\u00a0\u00a0supprimé" in texts(drawn)
    assert "#e5e7eb" in fills(drawn)


def test_three_keys_are_small_multiples_and_their_sum() -> None:
    keys = {"sex": ["Men", "Women"], "a": ["r", "s"], "b": ["t", "u"]}
    shown = texts(draw_heat_map(make_table(dict(keys), lambda _: 1), "en"))
    assert {"Men", "Women", "All"} <= set(shown)
    assert shown.count("1") == 8
    alone = texts(draw_heat_map(make_table(dict(keys), lambda _: 1, margins=()), "en"))
    assert "All" not in alone


# --- bars -------------------------------------------------------------------------------------------------------------


def error_bars(drawn: Drawn) -> int:
    return sum(one.attrib["stroke-width"] == "1.3" for one in ElementTree.fromstring(drawn.svg).iter(f"{SVG}line"))


def test_error_bars_are_those_of_the_intervals() -> None:
    keys: dict[str, list[str] | int] = {"a": ["r", "s"], "b": ["t", "u", "v"]}
    assert error_bars(draw_bars(make_table(dict(keys), lambda _: 50), "en")) == 3 * 6
    alone = draw_bars(make_table(dict(keys), lambda _: 50, half=None), "en")
    assert error_bars(alone) == 0
    assert "intervals" not in alone.words


def test_an_interval_beyond_the_axis_is_marked() -> None:
    table = make_table({"a": 9}, lambda _: 50)
    cells = list(table.cells)
    assert "<polygon" not in draw_bars(table, "en").svg
    for low, high in ((-1e9, 60.0), (40.0, 1e9), (None, 60.0), (40.0, float("inf"))):
        cells[4] = cells[4]._replace(low=low, high=high)
        drawn = draw_bars(put_figures(table, cells=cells), "en")
        assert drawn.svg.count("<polygon") == 1
        assert "An arrow marks" in drawn.words


def test_panels_of_very_different_size_have_their_own_axes() -> None:
    keys: dict[str, list[str] | int] = {"a": 3, "b": 2}
    assert "own axis" not in draw_bars(make_table(dict(keys), lambda _: 100), "en").words
    skewed = draw_bars(make_table(dict(keys), lambda places: 10 ** (2 + 3 * (places[0] == 1))), "en")
    assert "Each panel has its own axis." in skewed.words
    assert "Each panel has its own axis." in texts(skewed)


# --- what is shown ----------------------------------------------------------------------------------------------------

SMALL = PictureLimits(keys=2, panels=4, lines=5, columns=5, figures=60)


def test_a_large_table_is_shown_by_its_largest_margin_that_fits() -> None:
    table = make_table({"a": 7, "b": 3, "c": 4}, lambda _: 1)
    view = choose_view(table, SMALL, "en")
    assert view.kept == (1, 2)
    assert len(list(view.shown())) == 12
    assert all(entry.over == (0,) and entry.value == 7 for entry in view.shown())
    words = draw_bars(make_table({"a": 40, "b": 12}, lambda _: 1), "en").words
    assert "too large for one picture, which shows the margin, summed over b." in words


def test_without_margins_the_beginning_is_shown_and_said() -> None:
    view = choose_view(make_table({"a": 7, "b": 9, "c": 6}, lambda _: 1, margins=()), SMALL, "en")
    assert view.left_out == (("panels", 2, 7), ("lines", 5, 9), ("columns", 5, 6))
    assert len(list(view.shown())) == 2 * 5 * 5
    words = draw_heat_map(make_table({"a": 61, "b": 2}, lambda _: 1, margins=()), "fr").words
    assert "les 60 premières lignes sur 61" in words


def test_a_table_that_fits_is_shown_whole() -> None:
    view = choose_view(make_table({"a": 2, "b": 3, "c": 4}, sum), SMALL, "en")
    assert view.kept == (0, 1, 2)
    assert not view.left_out
    assert len(list(view.shown())) == 24
    assert "too large" not in draw_heat_map(make_table({"a": 2, "b": 2}, lambda _: 1), "en").words


def test_no_value_and_all_are_told_apart(counted: Release) -> None:
    drawn = draw_heat_map(counted, "en")
    assert {"(no value)", "All"} <= set(texts(drawn))


# --- words and files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guarantee", "french"),
    [
        (PureDP(epsilon="1.5"), "epsilon = 1,5"),
        (ApproxDP(epsilon=1, delta="1e-6"), "delta = 0,000001"),
        (ZCDP(rho="0.1"), "rho = 0,1"),
        (LocalDP(epsilon=2), "par répondant"),
        (ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=4, anonymity=1000), "parmi 1\u202f000 personnes"),
        (BootstrapDP(epsilon=1), "sans confidentialité différentielle"),
        (Unproven("no proof"), "sans confidentialité différentielle\u00a0: no proof"),
    ],
)
def test_every_guarantee_has_words_in_both_languages(guarantee: Guarantee, french: str) -> None:
    table = make_table({"a": 1}, lambda _: 1, guarantee=guarantee)
    assert tell_guarantee(table, "en") == str(guarantee)
    assert french in tell_guarantee(table, "fr")


def test_a_picture_is_a_file_of_its_own(tmp_path: Path, counted: Release) -> None:
    file = tmp_path / "table.svg"
    file.write_text("old")
    write_picture(draw_heat_map(counted, "en"), file)
    written = file.read_text(encoding="utf-8")
    assert written.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<svg role="img" ')
    root = ElementTree.fromstring(written.encode())
    assert [one.tag for one in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[2].attrib["fill"] == "#ffffff"
    assert [one.name for one in tmp_path.iterdir()] == ["table.svg"]


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    drawn = Drawn("x", "words", '<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    assert ElementTree.fromstring(picture_file(drawn).encode())[0].tag == f"{SVG}rect"
    with pytest.raises(PathInvalid, match="no folder"):
        write_picture(drawn, tmp_path / "none" / "x.svg")
    (tmp_path / "folder").mkdir()
    with pytest.raises(PathInvalid, match="is a folder"):
        write_picture(drawn, tmp_path / "folder")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_little_noise_below_zero_keeps_the_shades_apart() -> None:
    values = [-1, 0, 2, 9000]
    shades = list(fills(draw_heat_map(make_table({"a": ["p", "q", "r", "s"]}, lambda at: values[at[0]]), "en")))
    assert shades.count(shade(0.0)) >= 3


def test_names_above_columns_break_between_words_where_there_is_room() -> None:
    table = make_table({"a": ["x"], "b": ["In the countryside", "Elsewhere", "No"]}, lambda _: 1)
    assert not [one for one in texts(draw_heat_map(table, "en")) if one.endswith("…")]
