"""Walking a rows x columns problem in blocks of rows, small enough to stay in cache."""

from collections.abc import Iterator

from torch import Size, Tensor

from unknot.errors import SpecError

# Elements of one work tensor. On a CPU some MiB (a share of the last-level cache: passes over a block then
# cost arithmetic, not memory traffic); on an accelerator enough to fill it.
CPU_BLOCK = 2**20
ACCELERATOR_BLOCK = 2**24


def rows_per_block(rows: Tensor, width: int) -> int:
    """How many rows of ``width`` elements each make a block, at least one and at most all."""
    block = CPU_BLOCK if rows.device.type == "cpu" else ACCELERATOR_BLOCK
    return max(1, min(rows.shape[0], block // width))


def work_tensors(count: int, rows: Tensor, shape: Size) -> list[Tensor]:
    """Tensors (rows per block, *shape) to write every block into: fresh memory is slow to touch."""
    size = rows_per_block(rows, shape.numel())
    return [rows.new_empty(size, *shape) for _ in range(count)]


def row_blocks(rows: Tensor, width: int, parent: Tensor | None) -> Iterator[tuple[int, slice | Tensor]]:
    """Yield ``(table, index)``: blocks of rows that share one parameter table.

    Without ``parent`` there is one table, 0, and blocks are slices. With it, row r belongs to table
    ``parent[r]``, and blocks are index vectors.
    """
    size = rows_per_block(rows, width)
    if parent is None:
        for start in range(0, rows.shape[0], size):
            yield 0, slice(start, start + size)
        return
    for table in parent.unique().tolist():
        if table < 0:
            raise SpecError(f"discrete parent: expected a class index from 0 for every draw, got {table}")
        for index in (parent == table).nonzero().squeeze(-1).split(size):
            yield table, index
