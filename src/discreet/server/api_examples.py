"""What the description of the API shows of its answers: as a real server gives them, shortened.

A test asks a server and sees that every field that stands here is there, and of the same sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["EXAMPLES", "OTHER_MEDIA"]

_HASH: Final = "3018904feb0dd75143337bffb09d2c9dfeb6e2a3c4b4b08ad9d28ab279ffbccc"
_ADA: Final = {"name": "ada", "roles": ["analyst"], "datasets": ["survey"], "suspended": False}
_TOKEN: Final = {
    "id": "d4543ae9ac185a80",
    "person": "ada",
    "expires": "2027-02-17",
    "last_used": "2026-11-19",
    "revoked": False,
}
_ANSWER: Final = {
    "kind": "query",
    "rows": [{"people": 3043}],
    "intervals": [{"people": [2983, 3103]}],
    "level": "0.95",
    "charge": {"epsilon": "0.1", "delta": "0"},
    "remaining": {"population": {"epsilon": "2.9"}, "analyst": {"epsilon": "0.9"}},
    "guarantee": "pure DP, epsilon = 0.1",
    "unit": "person_id (at most 1 row each)",
    "neighbours": "add-remove",
    "plan_hash": _HASH,
    "request_id": "smokers-1",
    "replayed": False,
}
_EXPLAINED: Final = {
    "explanation": {"plan_hash": _HASH, "charge": {"epsilon": "0.1"}},
    "heading": "Explanation",
    "lines": ["Plan"],
    "summary": ["Charge"],
}
_BUDGET: Final = {
    "terms": {"population": "residents", "epsilon": "3", "per_analyst": "1", "neighbours": "add-remove"},
    "population": {"epsilon_cap": "3", "epsilon_spent": "0", "epsilon_remaining": "3"},
    "analysts": {},
    "holds": [],
    "markers": [],
    "bounds_everything": True,
}
_JOB: Final = {
    "id": "5f2b0c4e8d9a41f7b6c3d2e1f0a98765",
    "kind": "workload",
    "request_id": "report-1",
    "asked": "2026-11-19T09:30:00+00:00",
    "state": "running",
    "answer": None,
    "problem": None,
}
_PROPOSAL: Final = {
    "number": 26,
    "act": "role-given",
    "person": "ada",
    "proposer": "carl",
    "made": "2026-11-19T09:30:00+00:00",
}

EXAMPLES: Final[Mapping[tuple[str, str], Mapping[str, Any]]] = {
    ("get", "/v1/health"): {"status": "ok"},
    ("get", "/v1/ready"): {"status": "ready", "version": "0.1.0", "slots": True},
    ("get", "/v1/me"): {"name": "ada", "roles": ["analyst"], "datasets": ["survey"], "via": "token"},
    ("post", "/v1/belief"): {"epsilon": "1", "prior": "0.5", "odds_ratio": "2.71828182846", "belief": "0.731059"},
    ("post", "/v1/session"): {"name": "ada", "roles": ["analyst"]},
    ("delete", "/v1/session"): {"signed_out": True},
    ("get", "/v1/datasets"): {
        "datasets": [{"name": "survey", "version": 1, "population": "residents", "suspended": False}]
    },
    ("get", "/v1/datasets/{dataset}"): {
        "dataset": "survey",
        "population": "residents",
        "unit": {"column": "person_id", "rows": 1},
        "columns": [{"name": "person_id", "kind": "id", "label": "person", "public": False}],
        "version": 1,
        "suspended": False,
        "budget": _BUDGET,
    },
    ("get", "/v1/populations/{population}/budget"): _BUDGET,
    ("post", "/v1/datasets/{dataset}/resume"): {"name": "survey", "suspended": False},
    ("post", "/v1/explanations"): _EXPLAINED,
    ("post", "/v1/targets"): _EXPLAINED,
    ("post", "/v1/tables/plan"): _EXPLAINED,
    ("post", "/v1/workloads/plan"): {"plan": {"possible": True, "questions": [{"question": "smokers"}]}},
    ("post", "/v1/queries"): _ANSWER,
    ("post", "/v1/workloads"): {"kind": "workload", "charge": {"epsilon": "1", "delta": "0"}},
    ("post", "/v1/tables"): {"kind": "table", "charge": {"epsilon": "0.5", "delta": "0"}},
    ("get", "/v1/jobs"): {"jobs": [_JOB]},
    ("get", "/v1/jobs/{job}"): _JOB,
    ("delete", "/v1/jobs/{job}"): {**_JOB, "state": "cancelled"},
    ("get", "/v1/answers/{number}"): _ANSWER,
    ("get", "/v1/history"): {
        "history": [
            {
                "answer": 23,
                "when": "2026-11-19T09:30:00+00:00",
                "analyst": "ada",
                "dataset": "survey",
                "version": 1,
                "key": "smokers-1",
                "cost": {"epsilon": "0.1", "type": "PureDP"},
                "question": {"kind": "query", "sql": "SELECT COUNT(*) AS people FROM survey", "epsilon": "0.1"},
                "answered": True,
            }
        ]
    },
    ("get", "/v1/ledger/head"): {"sequence": 24, "hash": _HASH},
    ("post", "/v1/ledger/verify"): {"events": 24, "head": _HASH, "charges": 1, "answers": 1},
    ("get", "/v1/people"): {"people": [_ADA]},
    ("post", "/v1/people"): _ADA,
    ("get", "/v1/people/{name}"): _ADA,
    ("post", "/v1/people/{name}/roles"): _ADA,
    ("delete", "/v1/people/{name}/roles/{role}"): _ADA,
    ("post", "/v1/people/{name}/suspend"): {**_ADA, "suspended": True},
    ("post", "/v1/people/{name}/restore"): _ADA,
    ("post", "/v1/people/{name}/link"): {"person": "ada", "link": "3e54f9de425a79da.shown-once"},
    ("get", "/v1/proposals"): {"proposals": [_PROPOSAL]},
    ("post", "/v1/proposals/{number}/confirm"): _ADA,
    ("post", "/v1/proposals/{number}/decline"): _PROPOSAL,
    ("get", "/v1/grants"): {"grants": [{"person": "ada", "dataset": "survey"}]},
    ("post", "/v1/grants"): _ADA,
    ("delete", "/v1/grants/{person}/{dataset}"): _ADA,
    ("get", "/v1/tokens"): {"tokens": [_TOKEN]},
    ("post", "/v1/tokens"): {**_TOKEN, "last_used": None, "token": "d4543ae9ac185a80.shown-once"},
    ("delete", "/v1/tokens/{id}"): {**_TOKEN, "revoked": True},
    ("put", "/v1/me/password"): {"name": "ada"},
}
"""By method and path. What is left out is described by its media type alone, or is this description itself."""

OTHER_MEDIA: Final[Mapping[tuple[str, str], str]] = {
    ("get", "/v1/datasets/{dataset}/card.yaml"): "application/yaml",
    ("get", "/v1/ledger/events"): "application/x-ndjson",
    ("get", "/v1/openapi.json"): "application/json",
}
