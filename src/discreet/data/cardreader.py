"""From YAML nodes to a card, collecting every problem with its line."""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Final

from discreet.data.card import (
    ALLOWED_RELEASES,
    Accounting,
    Card,
    Membership,
    Size,
    membership_problems,
    presence_problems,
    size_problems,
    totals_problems,
    unit_problems,
    weight_problems,
)
from discreet.data.cardkeys import CARD_KEYS, find_key
from discreet.data.columns import CardFault, Category, Column, Kind, Labels, Totals, WeightRule, is_well_named
from discreet.data.nodereader import NodeReader, normal_text
from discreet.data.yamltext import MappingNode, Node, ScalarNode, SequenceNode, parse_yaml, read_yaml_text
from discreet.errors import CardInvalid, CardUndecided, ParameterInvalid
from discreet.guarantees.budget import Budget
from discreet.guarantees.types import Neighbours, Unit

__all__ = ["parse_card_text", "read_card_file"]

_DATASET: Final = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_POPULATION: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)


def read_card_file(path: Path) -> Card:
    """The card in a file."""
    return parse_card_text(read_yaml_text(path, sort="card"), file=path.name)


@lru_cache(maxsize=32)
def parse_card_text(text: str, *, file: str) -> Card:
    """The card in a text, or CardInvalid with all problems; CardUndecided when only decisions are open.

    Kept by the whole text: every question reads its cards, and a card changes by becoming another text.
    """
    root = parse_yaml(text, file=file)
    reader = _CardReader()
    card = reader.read(root, file=file, text=text)
    reader.settle(file=file, invalid=CardInvalid if reader.problems else CardUndecided)
    assert card is not None
    return card


class _CardReader(NodeReader):
    """Reads one card: one method per part, in the card's order."""

    def read(self, root: Node, *, file: str, text: str) -> Card | None:
        fields = self.fields(root, CARD_KEYS, "the card")
        if fields is None:
            return None
        dataset = self.optional(fields, "dataset", self._dataset)
        columns = self.optional(fields, "columns", self._columns) or {}
        unit = self.optional(fields, "unit", self._unit)
        neighbours = self.optional(fields, "neighbours", lambda node: self.choice(node, Neighbours, "neighbours"))
        size = self.optional(fields, "size", lambda node: self.choice(node, Size, "size"))
        membership = self.optional(fields, "membership", lambda node: self.choice(node, Membership, "membership"))
        weight = self.optional(fields, "weight", self._weight)
        totals = self.optional(fields, "totals", self._totals) or []
        budget = self.optional(fields, "budget", self._budget)
        title = self.optional(fields, "title", lambda node: self.labels(node, "title"))
        description = self.optional(fields, "description", lambda node: self.labels(node, "description"))
        population = self.optional(fields, "population", self._population)
        accounting = self.optional(fields, "accounting", lambda node: self.choice(node, Accounting, "accounting"))
        allow = self.optional(fields, "allow", self._allow)
        exact = self.optional(fields, "exact_public", lambda node: self.boolean(node, "exact_public"))
        if weight is not None and columns:
            self._supply_weight(weight, columns)
        if unit is not None and columns:
            self.note_at(root, unit_problems(unit, columns))
        if weight is not None and columns:
            self.note_at(root, weight_problems(weight, columns))
        if columns and ("weight" not in fields or weight is not None):
            for place, text_of in totals_problems([one for _, one in totals], weight, columns):
                self.note(totals[place][0], text_of)
        if size is not None and neighbours is not None:
            self.note_at(root, size_problems(size, neighbours))
        if membership is not None:
            self.note_at(root, membership_problems(membership, size or Size.PRIVATE))
        self.note_at(root, presence_problems(size or Size.PRIVATE, columns))
        if self.problems or self.undecided or not (dataset and unit and neighbours and budget):
            return None
        return Card(
            dataset=dataset,
            title=title or Labels(dataset, dataset),
            description=description,
            population=population or dataset,
            unit=unit,
            neighbours=neighbours,
            size=size or Size.PRIVATE,
            membership=membership or Membership.CONFIDENTIAL,
            weight=weight,
            totals=tuple(one for _, one in totals),
            budget=budget,
            accounting=accounting or Accounting.EPSILON,
            allow=allow or frozenset(),
            exact_public=bool(exact),
            columns=tuple(column for column in columns.values() if column is not None),
            file=file,
            text=text,
        )

    def _dataset(self, node: Node) -> str | None:
        return self.named(node, "dataset", _DATASET, "a lower-case letter, then letters, digits or _, at most 63")

    def _population(self, node: Node) -> str | None:
        return self.named(node, "population", _POPULATION, "lower-case letters, digits, . _ -, at most 63")

    def _unit(self, node: Node) -> Unit | None:
        fields = self.fields(node, find_key("unit").keys, "unit")
        if fields is None:
            return None
        column = self.optional(fields, "column", lambda part: self.text(part, "unit column"))
        rows = self.optional(fields, "rows", lambda part: self.number(part, "rows of the unit"))
        if column is None or rows is None:
            return None
        if rows % 1 or not 1 <= rows <= 10**6:
            self.note(fields["rows"].line, "rows of the unit must be a whole number from 1 to 1,000,000")
            return None
        return Unit(column=column, rows=int(rows))

    def _weight(self, node: Node) -> WeightRule | None:
        fields = self.fields(node, find_key("weight").keys, "weight")
        if fields is None:
            return None
        column = self.optional(fields, "column", lambda part: self.text(part, "weight column"))
        cap = fields.get("cap")
        if isinstance(cap, MappingNode):
            rule = self._caps(cap, column or "")
        else:
            one = None if cap is None else self.number(cap, "cap of the weight")
            rule = None if one is None else self.built(cap, lambda: WeightRule(column or "", cap=one))
        return rule if column is not None else None

    @staticmethod
    def _supply_weight(weight: WeightRule, columns: dict[str, Column | None]) -> None:
        """A weight that is not listed among the columns is a number between 0 and its largest cap."""
        if weight.column.lower() in {name.lower() for name in columns}:
            return
        places = max(2, *(-int(cap.normalize().as_tuple().exponent) for cap in weight.every_cap))
        with suppress(CardFault):  # a name that cannot be a column is reported as one that is not there
            columns[weight.column] = Column(
                name=weight.column,
                kind=Kind.NUMBER,
                label=Labels(weight.column, weight.column),
                bounds=(Decimal(0), weight.largest),
                step=Decimal(1).scaleb(-places),
            )

    def _caps(self, node: MappingNode, column: str) -> WeightRule | None:
        fields = self.fields(node, find_key("weight.cap").keys, "cap of the weight")
        if fields is None:
            return None
        by = self.optional(fields, "by", lambda part: self.text(part, "cap column"))
        values = fields.get("values")
        if values is None or by is None:
            return None
        known = self._numbers(values, "cap", "caps of the weight")
        if known is None:
            return None
        return self.built(node, lambda: WeightRule(column, by=by, caps=known))

    def _totals(self, node: Node) -> list[tuple[int, Totals]]:
        """The totals with their lines: one mapping, or a list of them."""
        nodes = node.items if isinstance(node, SequenceNode) else (node,)
        found = [(one.line, self._total(one)) for one in nodes]
        return [(line, one) for line, one in found if one is not None]

    def _total(self, node: Node) -> Totals | None:
        fields = self.fields(node, find_key("totals").keys, "totals")
        if fields is None:
            return None
        by = self.optional(fields, "by", lambda part: self.text(part, "column of the totals"))
        source = self.optional(fields, "source", lambda part: self.labels(part, "source of the totals"))
        values = fields.get("values")
        if values is None or source is None or ("by" in fields and by is None):
            return None
        if by is None:
            whole = self.number(values, "the grand total (without `by`)")
            return None if whole is None else self.built(node, lambda: Totals(source, whole=whole))
        known = self._numbers(values, "total", "totals")
        return None if known is None else self.built(node, lambda: Totals(source, by=by, values=known))

    def _numbers(self, node: Node, one: str, many: str) -> tuple[tuple[str, Decimal], ...] | None:
        """A mapping from code to number."""
        if not isinstance(node, MappingNode):
            if not self.is_undecided(node, many):
                self.note(node.line, f"{many} are a mapping from code to number")
            return None
        found = [(key.text, self.number(value, f"{one} of '{key.text}'")) for key, value in node.entries]
        known = tuple((normal_text(code), number) for code, number in found if number is not None)
        return known if len(known) == len(found) else None

    def _budget(self, node: Node) -> Budget | None:
        keys = find_key("budget").keys
        fields = self.fields(node, keys, "budget")
        if fields is None:
            return None
        given = {name: self.text(part, f"budget {name}") for name, part in fields.items()}
        if "epsilon" not in given or None in given.values():
            return None
        try:
            return Budget(**{name: text for name, text in given.items() if text is not None})
        except (ParameterInvalid, ValueError) as error:
            message = error.message if isinstance(error, ParameterInvalid) else str(error)
            self.note(node.line, f"budget: {message}")
            return None

    def _allow(self, node: Node) -> frozenset[str] | None:
        allowed = self.texts(node, "allow")
        if allowed is None:
            return None
        for part in allowed:
            if part not in ALLOWED_RELEASES:
                self.note(node.line, f"allow: '{part}' is not one of {', '.join(ALLOWED_RELEASES)}")
        return frozenset(allowed)

    def _columns(self, node: Node) -> dict[str, Column | None] | None:
        if not isinstance(node, MappingNode):
            if not self.is_undecided(node, "columns"):
                self.note(node.line, "columns are a mapping from name to description")
            return None
        columns: dict[str, Column | None] = {}
        lower: dict[str, str] = {}
        for key, value in node.entries:
            twin = lower.setdefault(key.text.lower(), key.text)
            if twin != key.text:
                self.note(key.line, f"columns '{twin}' and '{key.text}' differ by case only")
            columns[key.text] = self._column(key, value)
        if not columns:
            self.note(node.line, "a card has at least one column")
        return columns

    def _column(self, key: ScalarNode, node: Node) -> Column | None:
        name, where = key.text, f"column '{key.text}'"
        fields = self.fields(node, find_key("columns").keys, where)
        if fields is None:
            return None
        before = len(self.problems) + len(self.undecided)
        kind = self.optional(fields, "kind", lambda part: self.choice(part, Kind, f"kind of {where}"))
        label = self.optional(fields, "label", lambda part: self.labels(part, f"label of {where}"))
        kind_of_id = self.optional(fields, "type", lambda part: self.text(part, f"type of {where}"))
        source = self.optional(fields, "source", lambda part: self.text(part, f"source of {where}"))
        public = self.optional(fields, "public", lambda part: self.boolean(part, f"public of {where}"))
        categories = self.optional(fields, "categories", lambda part: self._categories(part, where))
        private = self._is_private(fields.get("bounds"))
        bounds = None if private else self.optional(fields, "bounds", lambda part: self._bounds(part, where))
        step = self.optional(fields, "step", lambda part: self.number(part, f"step of {where}"))
        edges = self.optional(fields, "edges", lambda part: self._edges(part, where))
        typical = self.optional(fields, "typical", lambda part: self.number(part, f"typical of {where}"))
        precision = self.optional(fields, "precision", lambda part: self.number(part, f"precision of {where}"))
        missing = self.optional(fields, "missing", lambda part: self._missing(part, kind, where))
        provenance = self.optional(fields, "provenance", lambda part: self.text(part, f"provenance of {where}"))
        if provenance not in {None, "from_rows"}:
            self.note(fields["provenance"].line, f"provenance of {where} can only be from_rows")
        presence = self.optional(fields, "presence", lambda part: self.text(part, f"presence of {where}"))
        if presence not in {None, "public"}:
            self.note(fields["presence"].line, f"presence of {where} can only be public")
        complete = self.optional(fields, "complete", lambda part: self.boolean(part, f"complete of {where}"))
        references = self.optional(fields, "references", lambda part: self._references(part, where))
        if kind is None or len(self.problems) + len(self.undecided) > before:
            return None
        decided = kind
        return self.built(
            node,
            lambda: Column(
                name=name,
                kind=decided,
                label=label or Labels(name, name),
                source=source or name,
                type=kind_of_id,
                public=bool(public),
                categories=categories or (),
                bounds=bounds,
                step=step,
                missing=missing or (),
                from_rows=provenance is not None,
                edges=edges or (),
                private_bounds=private,
                public_presence=presence is not None,
                complete=bool(complete),
                references=references,
                typical=typical,
                precision=precision,
            ),
            line=key.line,
        )

    def _categories(self, node: Node, where: str) -> tuple[Category, ...] | None:
        what = f"categories of {where}"
        if isinstance(node, MappingNode):
            found = [(key, self._category(key, value, what)) for key, value in node.entries]
        elif isinstance(node, SequenceNode):
            codes = self.texts(node, what)
            return tuple(Category(normal_text(code), Labels(code, code)) for code in codes) if codes else None
        else:
            if not self.is_undecided(node, what):
                self.note(node.line, f"{what} are a list of codes or a mapping from code to label")
            return None
        if not found:
            self.note(node.line, f"{what} are empty")
            return None
        known = tuple(category for _, category in found if category is not None)
        return known if len(known) == len(found) else None

    def _category(self, key: ScalarNode, value: Node, what: str) -> Category | None:
        code = normal_text(key.text)
        if not code:
            self.note(key.line, f"{what}: a code is not empty")
            return None
        label = self.labels(value, f"{what}, label of '{code}'")
        return None if label is None else Category(code, label)

    @staticmethod
    def _is_private(node: Node | None) -> bool:
        return isinstance(node, ScalarNode) and node.text == "private"

    def _references(self, node: Node, where: str) -> tuple[str, str] | None:
        what = f"references of {where}"
        name = self.text(node, what)
        if name is None:
            return None
        dataset, dot, column = name.partition(".")
        if not dot or not _DATASET.fullmatch(dataset) or not is_well_named(column):
            self.note(node.line, f"{what} name a dataset and its column, as in clinics.clinic_id")
            return None
        return dataset, column

    def _bounds(self, node: Node, where: str) -> tuple[Decimal, Decimal] | None:
        what = f"bounds of {where}"
        if self.is_undecided(node, what):
            return None
        if not isinstance(node, SequenceNode) or len(node.items) != 2:
            self.note(node.line, f"{what} are a list of two numbers, [low, high], or private")
            return None
        low, high = (self.number(item, what) for item in node.items)
        return (low, high) if low is not None and high is not None else None

    def _edges(self, node: Node, where: str) -> tuple[Decimal, ...] | None:
        what = f"edges of {where}"
        if not isinstance(node, SequenceNode):
            self.note(node.line, f"{what} are a list of numbers")
            return None
        edges = [self.number(item, what) for item in node.items]
        return tuple(edge for edge in edges if edge is not None) if None not in edges else None

    def _missing(self, node: Node, kind: Kind | None, where: str) -> tuple[str, ...] | None:
        what = f"missing codes of {where}"
        codes = self.texts(node, what)
        if codes is not None and kind in {Kind.INTEGER, Kind.NUMBER}:
            assert isinstance(node, SequenceNode)
            for item in node.items:
                self.number(item, what)
        return codes
