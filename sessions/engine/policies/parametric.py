"""Your own policy: any gate with any edit, every number a parameter.

Triggers that are set are joined by any or all; guards (messages since the last one, worth it, calls expected) must
hold besides.  The edit leaves the first and the last messages alone and never splits a tool pair.
"""

from __future__ import annotations

from sessions.engine.policies._parametric import Params, edit, gate
from sessions.engine.policies.policy import Policy

POLICY = Policy(
    name="parametric", label="Your own: any trigger, any edit",
    source="ctxweb: trigger × edit, for a design of one's own",
    help="Put a policy together: when it fires, what it keeps, what it does with the rest.",
    params=Params, gate=gate, edit=edit,
    threshold_param="share", tier="preset",
)  # fmt: skip
