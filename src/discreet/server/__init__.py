"""HTTP and the process around it: what is heard and in what time, what reaches a handler, and who may be listened to.

Nothing here knows what a request is about. Offices of linked counts stand behind the same limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.server.guard import BodyGuard
    from discreet.server.protocol import GuardedProtocol
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = ["BodyGuard", "GuardedProtocol"]
