"""The program of the process that measures on a GPU (src/tune/gpu_worker.h).

Its argument is the file of the extension module, which is all it needs: no NumPy, no packages.
"""

import importlib.util
import sys

spec = importlib.util.spec_from_file_location("mirage._core", sys.argv[1])
assert spec is not None and spec.loader is not None
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
sys.exit(core.serve_gpu_worker())
