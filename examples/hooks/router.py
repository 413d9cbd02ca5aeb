"""A question that names no project is asked where its words say it belongs.

A function for `python = "router:route"`, and a daemon when it is run. A caller's own choice of a
project is never changed.
"""

from recollect.hooks.sdk import hook, modify, serve

PLACES = {
    "payments": {"card", "charge", "checkout", "invoice", "refund"},
    "storefront": {"basket", "button", "page", "search"},
}


@hook("pre_recall_expand")
def route(payload):
    if payload["namespace"]:
        return None
    words = set(payload["query"].lower().replace("?", " ").split())
    found = [place for place, known in PLACES.items() if words & known]
    return modify(namespace=found[0]) if len(found) == 1 else None


if __name__ == "__main__":
    serve()
