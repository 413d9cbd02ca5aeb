"""What every store must count and queue within a tenant, as tests; part of `StoreContract`."""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.model import Place
from recollect.ports.access import Act
from recollect.ports.store import Store
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import committing

__all__ = ["TenantContract"]


class TenantContract:
    """Tests of what tenants of one store have apart. `opened` gives an empty store."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        raise TypeError("a subclass of TenantContract says how to open a store")
        yield

    def test_who_waits_for_a_vector_is_told_by_tenant_and_owner(self) -> None:
        places = {"a": Place("acme", "ann"), "b": Place("acme", "bob"), "d": Place("globex", "dan")}
        with self.opened() as store:
            with committing(store):
                store.memories.write(
                    [new_memory(name, place=places[name], pending=True) for name in "dba"]
                )
            assert [one.pak_id for one in store.vectors.waiting(9)] == ["d", "b", "a"]
            assert [one.pak_id for one in store.vectors.waiting(9, tenant="acme")] == ["b", "a"]
            assert [one.pak_id for one in store.vectors.waiting(1, tenant="acme")] == ["b"]
            own = store.vectors.waiting(9, tenant="acme", owner="ann")
            assert [one.pak_id for one in own] == ["a"]
            assert store.vectors.waiting(9, tenant="other") == []

    def test_acts_are_numbered_by_tenant(self) -> None:
        with self.opened() as store:
            for tenant in ("acme", "globex", "globex", "acme"):
                with committing(store):
                    store.access.note(Act(NOW, tenant, "ann", "trust.set", "peer"))
            for tenant in ("acme", "globex"):
                acts = store.access.acts(tenant, limit=9, before=None)
                assert [act.number for act in acts] == [2, 1]
            (first,) = store.access.acts("acme", limit=9, before=2)
            assert first.number == 1
