"""An office's server as if its workspace were here: `connect` gives a session with the same verbs, over HTTP.

Answers come back as releases and refusals as the errors that they were. A question is asked again only under the id
that it had; whatever a server sends is read with suspicion. No engine, ledger or SQL is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.client.access_token import read_token
    from discreet.client.remote_budget import RemoteBudget, RemoteHold, RemoteMarker
    from discreet.client.remote_explanation import RemoteExplanation, RemotePlan
    from discreet.client.remote_jobs import RemoteJob
    from discreet.client.remote_questions import RemoteQuestion
    from discreet.client.remote_session import RemoteDataset, RemoteSession, connect
    from discreet.client.remote_tables import RemoteTable
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "RemoteBudget",
    "RemoteDataset",
    "RemoteExplanation",
    "RemoteHold",
    "RemoteJob",
    "RemoteMarker",
    "RemotePlan",
    "RemoteQuestion",
    "RemoteSession",
    "RemoteTable",
    "connect",
    "read_token",
]
