"""Serve as a JSON text of options says."""

import json
import sys

from recollect.edge.http.options import ServerOptions
from recollect.edge.http.run import serve

if __name__ == "__main__":
    sys.exit(serve(ServerOptions(**json.loads(sys.argv[1]))))
