"""Switch a store to another model, and print how far it is each time."""

import sys

from tests.e2e.engine.stores import opened

from recollect.testing import FakeEmbedder

memory = opened(sys.argv[1])
memory.reembed(FakeEmbedder(24, model_id="new"), progress=lambda done, _: print(done, flush=True))
