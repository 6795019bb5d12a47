"""HTTP and the process around it: what is heard and in what time, what reaches a handler, and who may be listened to.

Nothing here knows what a request is about. Offices of linked counts stand behind the same limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.server.connections.addresses import TrustedProxies, read_proxies
    from discreet.server.connections.guard import Guard, GuardTerms
    from discreet.server.connections.listener import open_listener
    from discreet.server.connections.protocol import GuardedProtocol, OfficeProtocol
    from discreet.server.connections.refusals import REFUSALS, Refuse
    from discreet.server.connections.web_server import TlsFiles, WebServer
    from discreet.server.processes import serve_processes
    from discreet.server.server_log import tell_log
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "REFUSALS",
    "Guard",
    "GuardTerms",
    "GuardedProtocol",
    "OfficeProtocol",
    "Refuse",
    "TlsFiles",
    "TrustedProxies",
    "WebServer",
    "open_listener",
    "read_proxies",
    "serve_processes",
    "tell_log",
]
