"""What bodies of requests hold. Amounts are text, so that no reader rounds them; what is not named here is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.people import Role

__all__ = [
    "BeliefBody",
    "ExplanationBody",
    "GrantBody",
    "LinkBody",
    "PasswordBody",
    "PersonBody",
    "QueryBody",
    "RoleBody",
    "SignInBody",
    "TableBody",
    "TargetBody",
    "TokenBody",
    "VerifyBody",
    "WorkloadBody",
    "role_of",
]

Amount = Annotated[str, StringConstraints(max_length=60)]
Name = Annotated[str, StringConstraints(max_length=200)]
Sql = Annotated[str, StringConstraints(max_length=20_000)]
Secret = Annotated[str, StringConstraints(max_length=200)]
Widths = Annotated[dict[Name, Amount], Field(max_length=100)]
_COUNT = "SELECT province, COUNT(*) AS people FROM survey GROUP BY province"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class QueryBody(_Body):
    """A question in SQL, with what it may cost or how close it must be."""

    sql: Sql = Field(examples=[_COUNT])
    epsilon: Amount | None = Field(None, examples=["0.5"], description="What a new answer costs in all.")
    within: Widths | None = Field(None, description="Half-widths to reach, in place of epsilon.")
    delta: Amount = "0"
    assume: Widths | None = Field(None, description="Counts taken for granted where an expected error needs them.")
    level: Amount = Field("0.95", description="The coverage of the intervals.")
    fresh: bool = Field(False, description="A new answer, although one is stored that costs less.")


class ExplanationBody(QueryBody):
    """A question that is not asked."""


class TargetBody(_Body):
    """Half-widths for which the least epsilon is wanted."""

    sql: Sql = Field(examples=[_COUNT])
    within: Widths = Field(examples=[{"people": "500"}])
    delta: Amount = "0"
    assume: Widths | None = None
    level: Amount = "0.95"


class WorkloadBody(_Body):
    """A workload as its file has it."""

    workload: Annotated[str, StringConstraints(max_length=60_000)] = Field(
        examples=[
            "questions:\n  - name: smokers\n    sql: SELECT COUNT(*) AS n FROM survey WHERE smoking = 1\nepsilon: 1\n"
        ]
    )
    epsilon: Amount | None = None


class TableBody(_Body):
    """A protected table, as `discreet table` takes it."""

    dataset: Name = Field(examples=["survey"])
    by: Annotated[list[Name], Field(min_length=1, max_length=6)] = Field(examples=[["province", "sex"]])
    epsilon: Amount = Field(examples=["0.5"])
    value: Name | None = None
    mean: bool = False
    weighted: bool = False
    where: Sql | None = None
    edges: Annotated[dict[Name, Annotated[list[Amount], Field(max_length=1_001)]], Field(max_length=6)] = {}
    margins: bool | Annotated[list[Annotated[list[Name], Field(max_length=6)]], Field(max_length=64)] = True
    no_missing: bool = False
    leave_out: Annotated[dict[Name, Annotated[list[Name], Field(max_length=1_000)]], Field(max_length=6)] = {}
    noise: Name = "auto"
    sampling: Name | None = None
    suppress_above: Amount | None = None
    calibrate: Annotated[list[Name], Field(max_length=20)] = []
    level: Amount = "0.95"
    fresh: bool = False


class BeliefBody(_Body):
    """Two of belief (or epsilon), scale and queries, for the third."""

    epsilon: Amount | None = Field(None, examples=["1"])
    belief: Amount | None = None
    prior: Amount = "0.5"
    scale: Amount | None = None
    queries: Amount | None = None
    sensitivity: Amount = "1"


class SignInBody(_Body):
    """A name and its password, or a one-time link."""

    name: Name | None = None
    password: Secret | None = None
    link: Secret | None = None


class PasswordBody(_Body):
    password: Secret


class PersonBody(_Body):
    name: Name = Field(examples=["ada"])
    roles: Annotated[list[Name], Field(min_length=1, max_length=8)] = Field(examples=[["analyst"]])


class RoleBody(_Body):
    role: Name = Field(examples=["auditor"])


class TokenBody(_Body):
    days: Annotated[int, Field(ge=1, le=365, description="It works up to the end of that day, in UTC.")] = 90


class LinkBody(_Body):
    """A one-time link: what `POST /v1/session` takes as `link`."""

    person: Name
    link: Secret


class GrantBody(_Body):
    person: Name
    dataset: Name


class VerifyBody(_Body):
    anchor: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        None, description="The hash of a head that was noted down."
    )


def role_of(name: str) -> Role:
    """The role of this name, or ParameterInvalid with those that there are."""
    try:
        return Role(name)
    except ValueError:
        raise ParameterInvalid(
            parameter="role", rule=say("must be one of {roles}", roles=", ".join(Role)), given=say("another")
        ) from None
