"""Dataset cards: what a custodian declares about a dataset before a row of it is used.

`read_card` reads one strictly, with every problem and its line; `draft_card` writes a first one for a file. Studies,
manifests and workloads are read with the same parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.cards.card import Accounting, Card, Membership, SizeRule, parse_card, read_card
    from discreet.cards.card_face import describe_card
    from discreet.cards.card_reader import build_categories, build_weight
    from discreet.cards.card_schema import BOUNDS_PAIR, CAPS_BY_CODE, CARD, CATEGORIES, CHOSEN_NAME, call_missing_codes
    from discreet.cards.codes import unknown_code
    from discreet.cards.columns import (
        LARGEST_UNITS,
        NAME_PATTERN,
        CardFault,
        Category,
        Column,
        ColumnKind,
        PublicTotals,
        WeightRule,
        canonical_code,
        edge_fault,
        is_reserved,
        is_well_named,
    )
    from discreet.cards.draft import draft_card
    from discreet.cards.json_schema import make_json_schema
    from discreet.cards.schema import (
        COLUMN_NAME,
        ChoiceType,
        CodeType,
        FieldsType,
        FileSchema,
        FlagType,
        FormsType,
        LabelType,
        ListType,
        MappingType,
        NumberType,
        ParameterType,
        SchemaKey,
        TextType,
        WholeType,
        call_by_key,
        call_by_place,
    )
    from discreet.cards.schema_reader import Entry, Record, SchemaReader, normal_text
    from discreet.cards.schema_words import draft_file, hint, key_table, with_comment
    from discreet.cards.yaml_text import (
        MappingNode,
        Node,
        ScalarNode,
        SequenceNode,
        find_control,
        parse_yaml,
        read_yaml_text,
    )
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "BOUNDS_PAIR",
    "CAPS_BY_CODE",
    "CARD",
    "CATEGORIES",
    "CHOSEN_NAME",
    "COLUMN_NAME",
    "LARGEST_UNITS",
    "NAME_PATTERN",
    "Accounting",
    "Card",
    "CardFault",
    "Category",
    "ChoiceType",
    "CodeType",
    "Column",
    "ColumnKind",
    "Entry",
    "FieldsType",
    "FileSchema",
    "FlagType",
    "FormsType",
    "LabelType",
    "ListType",
    "MappingNode",
    "MappingType",
    "Membership",
    "Node",
    "NumberType",
    "ParameterType",
    "PublicTotals",
    "Record",
    "ScalarNode",
    "SchemaKey",
    "SchemaReader",
    "SequenceNode",
    "SizeRule",
    "TextType",
    "WeightRule",
    "WholeType",
    "build_categories",
    "build_weight",
    "call_by_key",
    "call_by_place",
    "call_missing_codes",
    "canonical_code",
    "describe_card",
    "draft_card",
    "draft_file",
    "edge_fault",
    "find_control",
    "hint",
    "is_reserved",
    "is_well_named",
    "key_table",
    "make_json_schema",
    "normal_text",
    "parse_card",
    "parse_yaml",
    "read_card",
    "read_yaml_text",
    "unknown_code",
    "with_comment",
]
