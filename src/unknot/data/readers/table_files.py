"""Table files and frames as blocks of Arrow arrays: CSV and TSV as text, Parquet and Feather with their types."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from unknot.data.files.broken_file import refuse_special_file
from unknot.data.readers.csv_cells import unguarded
from unknot.errors import DataError

BLOCK = 1 << 19  # bytes of text that are parsed together; larger where a single row needs more
_LARGEST_BLOCK = 1 << 30
_HEADER = 1 << 20  # characters in which the header has to end
_CELLS = 1 << 18  # cells of a typed file that are read together
_RAGGED = re.compile(r"Row #(\d+): Expected \d+ columns, got (\d+)")  # of Arrow
_FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".feather": "feather"}


class TableSource(ABC):
    """A table that is read block by block, so that memory depends on the block and not on the file.

    Attributes
    ----------
    where : str
        The file, for messages.
    file_names : list of str
        All columns, in order.
    names : list of str
        The columns that are read.
    decimal_comma : bool
        Whether text such as "1,5" is a number, since commas do not separate the cells.
    """

    decimal_comma = False

    def __init__(self, where: str, file_names: Sequence[str], leave_out: Collection[str]) -> None:
        self.where, self.file_names = where, list(file_names)
        self.names = [name for name in file_names if name not in leave_out]
        if len(set(file_names)) != len(file_names):
            twice = next(name for i, name in enumerate(file_names) if name in file_names[:i])
            raise DataError(f"{where}: two columns have the same name, '{twice}'.")
        if not self.names:
            raise DataError(f"{where} has no columns of data.")

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Size of the decoded table, roughly."""

    @abstractmethod
    def blocks(self) -> Iterator[Sequence[pa.Array]]:
        """Yield blocks of rows: one array per column, of text, numbers or bools."""


class CsvSource(TableSource):
    """A table as text: a header, then rows of cells separated by commas, semicolons or tabs."""

    def __init__(self, path: Path, leave_out: Collection[str] = ()) -> None:
        self.path = path
        refuse_special_file(path)
        with _explaining(path), path.open(newline="", encoding="utf-8-sig") as file:
            start = file.read(_HEADER)
        self._delimiter = max(",;\t", key=start.lstrip().partition("\n")[0].count)
        self.decimal_comma = self._delimiter != ","
        with _explaining(path):
            lines = csv.reader(io.StringIO(start, newline=""), delimiter=self._delimiter)
            header = next(filter(None, lines), None)
        if header is None:
            raise DataError(f"{path} is empty: expected a header and at least one row.")
        super().__init__(str(path), [unguarded(" ".join(name.split())) for name in header], leave_out)

    @property
    def nbytes(self) -> int:
        return self.path.stat().st_size

    def blocks(self) -> Iterator[Sequence[pa.Array]]:
        size, done = BLOCK, 1  # rows that need not come again; the first is the header
        while True:
            try:
                start = 0
                for batch in self._batches(size):
                    end = start + batch.num_rows
                    if end > done:
                        yield batch.slice(max(0, done - start)).columns
                        done = end
                    start = end
            except pa.ArrowInvalid as error:
                if "straddling" not in str(error):
                    raise DataError(f"{self.where} is not a table in UTF-8 text: {_line(error)}.") from None
                if size >= _LARGEST_BLOCK:
                    raise DataError(
                        f"{self.where} has a row longer than {size} bytes; is a quote not closed?"
                    ) from None
                size *= 16  # a row is longer than the block: read again with larger ones
                continue
            if done == 1:
                raise DataError(f"{self.where} is empty: expected a header and at least one row.")
            return

    def _batches(self, size: int) -> Iterator[pa.RecordBatch]:
        """Yield batches of text, the first of which begins with the header."""
        names = [str(i) for i in range(len(self.file_names))]
        chosen = [str(i) for i, name in enumerate(self.file_names) if name in self.names]
        # No invalid_row_handler: Arrow's threads would release it while the interpreter shuts down, and abort.
        try:
            with arrow_csv.open_csv(
                self.path,
                arrow_csv.ReadOptions(use_threads=False, block_size=size, column_names=names),
                arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                    include_columns=chosen,
                ),
            ) as reader:
                yield from reader
        except OSError as error:
            raise DataError(f"{self.where} cannot be read: {error.strerror}.") from None
        except pa.ArrowInvalid as error:
            ragged = _RAGGED.search(str(error))
            if ragged:
                raise DataError(
                    f"{self.where}, row {ragged[1]}: {ragged[2]} cells under {len(names)} columns."
                ) from None
            raise


class ArrowSource(TableSource):
    """A table of typed columns: a Parquet or Feather file, or a table of Arrow in memory.

    Parameters
    ----------
    where : str
        The table, for messages.
    names : sequence of str
        All columns.
    rows : int
        The number of rows.
    batches : callable
        From the names of columns and the size of a batch to batches of these columns.
    leave_out : collection of str
        Columns that are not read; they may be of any type.
    """

    def __init__(
        self,
        where: str,
        names: Sequence[str],
        rows: int,
        batches: Callable[[list[str], int], Iterable[pa.RecordBatch]],
        leave_out: Collection[str] = (),
    ) -> None:
        super().__init__(where, names, leave_out)
        self._rows, self._batches = rows, batches
        if not rows:
            raise DataError(f"{where} is empty: expected at least one row.")

    @classmethod
    def of_file(cls, path: Path, leave_out: Collection[str] = ()) -> ArrowSource:
        """Open a Parquet or Feather file."""
        from pyarrow.dataset import dataset  # takes a while to import

        refuse_special_file(path)
        if not path.exists():
            raise DataError(f"there is no file {path}.")
        with _explaining(path):
            data = dataset(path, format=_FORMATS[path.suffix.lower()])
            rows = data.count_rows()

        def batches(names: list[str], size: int) -> Iterable[pa.RecordBatch]:
            return data.to_batches(columns=names, batch_size=size, batch_readahead=1, use_threads=False)

        return cls(str(path), data.schema.names, rows, batches, leave_out)

    @classmethod
    def of_table(cls, table: pa.Table, where: str) -> ArrowSource:
        """Open a table in memory."""

        def batches(names: list[str], size: int) -> Iterable[pa.RecordBatch]:
            return table.select(names).to_batches(max_chunksize=size)

        return cls(where, table.column_names, table.num_rows, batches)

    @property
    def nbytes(self) -> int:
        return self._rows * len(self.names) * 8

    def blocks(self) -> Iterator[Sequence[pa.Array]]:
        rows = max(1, _CELLS // max(1, len(self.names)))
        with _explaining(self.where):
            for batch in self._batches(self.names, rows):
                if batch.num_rows:
                    yield [self._plain(n, a) for n, a in zip(self.names, batch.columns, strict=True)]

    def _plain(self, name: str, values: pa.Array) -> pa.Array:
        """Return a column as text, numbers or bools."""
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        kind = values.type
        if pa.types.is_null(kind) or pa.types.is_decimal(kind) or pa.types.is_date(kind):
            return pc.cast(values, pa.string())
        if pa.types.is_timestamp(kind):  # the local time, to the microsecond
            local = pc.local_timestamp(values) if kind.tz else values
            return pc.cast(pc.cast(local, pa.timestamp("us"), safe=False), pa.string())
        if pa.types.is_float16(kind):
            return pc.cast(values, pa.float32())
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return values
        if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return values
        raise DataError(
            f"{self.where}, column '{name}': holds {kind} values; make numbers or words of them, or leave it out."
        )


def is_table(path: Path) -> bool:
    """Return whether the name of a file is that of a table.

    >>> [is_table(Path(name)) for name in ("wine.csv", "wine.PARQUET", "wine.npz")]
    [True, True, False]
    """
    return path.suffix.lower() in _FORMATS


def open_table(path: Path, leave_out: Collection[str] = ()) -> TableSource:
    """Open a table file, by the ending of its name, to read all columns but those that are left out."""
    is_text = _FORMATS[path.suffix.lower()] == "csv"
    return CsvSource(path, leave_out) if is_text else ArrowSource.of_file(path, leave_out)


@contextlib.contextmanager
def _explaining(where: str | Path) -> Iterator[None]:
    try:
        yield
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{where} is not a table in UTF-8 text: {error}.") from None
    except (pa.ArrowException, NotImplementedError) as error:  # before OSError, of which ArrowIOError is one
        raise DataError(f"{where} cannot be read as a table: {_line(error)}.") from None
    except OSError as error:
        raise DataError(f"{where} cannot be read: {error.strerror or _line(error)}.") from None


def _line(error: Exception) -> str:
    """A library's message in one short line."""
    return " ".join(str(error).split())[:300].rstrip(".")
