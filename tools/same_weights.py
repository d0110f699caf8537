"""Compare the demo's weights with those of another revision, bit for bit: ``python tools/same_weights.py REVISION``.

Both sides run ``unknot demo --steps 50`` in one thread, the other revision in a temporary git worktree. Parameters are
compared as a collection of arrays, because a refactoring may rename them. A refactoring that keeps the numbers passes;
one that draws random numbers in another order, or adds in another order, does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from safetensors.numpy import load_file

ROOT = Path(__file__).parent.parent
STEPS = 50


def train(source: Path, run: Path) -> None:
    """Run the demo of the package in ``source`` for a few steps."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "unknot", "demo", "--steps", str(STEPS), "--run", str(run)]
    subprocess.run(command, env=environment, cwd=run.parent, check=True, stdout=subprocess.DEVNULL)


def digests(run: Path) -> list[tuple[tuple[int, ...], str]]:
    """Shape and digest of all that the checkpoint holds, in an order that names do not decide."""
    (file,) = run.glob("checkpoints/*/tensors.safetensors")
    return sorted((array.shape, sha256(array.tobytes()).hexdigest()) for array in load_file(file).values())


def main(revision: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        subprocess.run(
            ["git", "worktree", "add", "-q", "--detach", str(tree), revision], cwd=ROOT, check=True
        )
        try:
            train(tree / "src", Path(folder, "before"))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)
        train(ROOT / "src", Path(folder, "after"))
        before, after = digests(Path(folder, "before")), digests(Path(folder, "after"))
    changed = [shape for (shape, _), other in zip(before, after, strict=False) if (shape, _) != other]
    same = before == after
    print(
        f"{len(after)} arrays, {len(before)} at {revision}: {'the same bits' if same else f'different: {changed[:5]}'}"
    )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
