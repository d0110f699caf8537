"""LabelBudget: which items may show which factor's label, fixed by item id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.label_rule import Rule, SameAs, balanced, describe, rows_for, rows_of_ids, shuffled
from unknot.errors import DataError
from unknot.files import write_file

FORMAT = 1
Items = tuple[int, ...] | Literal["all"]


@dataclass(frozen=True)
class LabelBudget:
    """The labels of one data set that may be used.

    Attributes
    ----------
    dataset : str
        The name of the data set for which it was drawn.
    fingerprint : str
        The fingerprint of that data set.
    seed : int
        The seed of the draw.
    rules : mapping from factor to str
        The rules, in words.
    items : mapping from factor to tuple of int or "all"
        The sorted ids of the items whose label may be used. Factors that are not named have no labels.

    Examples
    --------
    >>> train = unknot.data.load("mnist").split("train")  # doctest: +SKIP
    >>> budget = LabelBudget.draw(train, 0, digit=100)  # doctest: +SKIP
    >>> budget.save("budget.json")  # doctest: +SKIP
    >>> train = budget.apply(train)  # 100 digits are known, 59900 are -1  # doctest: +SKIP
    """

    dataset: str
    fingerprint: str
    seed: int
    rules: Mapping[str, str]
    items: Mapping[str, Items]

    @classmethod
    def draw(cls, dataset: Dataset, seed: int, /, **rules: Rule) -> LabelBudget:
        """Choose the labeled items.

        Each factor is drawn separately, from the seed and the factor's name. With the same seed a larger number
        includes the items of a smaller one. The order of the items in the data set does not matter.

        Parameters
        ----------
        dataset : Dataset
            The data set with all labels.
        seed : int
            The seed of the draw.
        **rules : rule per factor
            One of

            - a number of labels. For a categorical or binary factor they are balanced: with K classes present each has
              n // K, and the first n % K of them, in class order, one more. Labels of counts and continuous factors
              are drawn uniformly over items;
            - ``per("identity", 6)``: six for each class of ``identity`` (or for each value of a count);
            - ``same_as("identity")``: the same items as another factor;
            - ``"all"``: every label; 0: none;
            - a bool mask (N,), or the ids of the items.

        Returns
        -------
        LabelBudget
        """
        rows: dict[str, Tensor | None] = {}  # None: every item
        for name, rule in rules.items():
            if not isinstance(rule, SameAs):
                factor = dataset.factor(name)
                everything = isinstance(rule, str) and rule == "all"
                rows[name] = None if everything else rows_for(dataset, factor, rule, seed)
        for name, rule in rules.items():
            if isinstance(rule, SameAs):
                if rule.factor not in rows:
                    raise DataError(f"budget of '{name}': there is no rule for '{rule.factor}' to follow.")
                dataset.factor(name)
                rows[name] = rows[rule.factor]
        items: dict[str, Items] = {}
        for name in rules:
            chosen = rows[name]
            items[name] = "all" if chosen is None else _ids(dataset, chosen)
        described = {name: describe(rule) for name, rule in rules.items()}
        return cls(dataset.name, dataset.fingerprint(), seed, described, items)

    def apply(self, dataset: Dataset) -> Dataset:
        """Return ``dataset`` with every label outside the budget made unknown (-1 or NaN).

        The result does not contain the hidden values, so no batch, model or metric can use them.
        """
        masks = {name: self._mask(dataset, name) for name in self._checked(dataset)}
        nothing = torch.zeros(len(dataset), dtype=torch.bool)
        factors = {}
        for name, factor in dataset.factors.items():
            factors[name] = factor.hide(masks.get(name, nothing).to(dataset.device))
            factors[name].refuse_wrong_values()
        return replace(dataset, factors=factors)

    def validation(self, dataset: Dataset, part: int | float, seed: int) -> tuple[LabelBudget, LabelBudget]:
        """Divide the budget into labels to train on and labels to choose settings by.

        Parameters
        ----------
        dataset : Dataset
            The data set for which the budget was drawn.
        part : int or float
            The labels of each factor that are for validation: a number, or (as a float) a fraction.
        seed : int
            The seed of the choice. The labels are balanced over classes as in ``draw``, as far as the budget allows.

        Returns
        -------
        training, validation : LabelBudget
            Together they have exactly the labels of this budget.
        """
        training: dict[str, Items] = {}
        held_out: dict[str, Items] = {}
        for name in self._checked(dataset):
            factor = dataset.factor(name)
            mask = self._mask(dataset, name) & factor.known.cpu()
            number = round(part * int(mask.sum())) if isinstance(part, float) else part
            held = balanced(factor, shuffled(dataset, mask, f"{seed} validation {name}"), number)
            held_out[name] = _ids(dataset, held)
            training[name] = _ids(dataset, mask.index_fill(0, held, False).nonzero()[:, 0])
        note = f"{part} held out for validation with seed {seed}"
        rules = {name: f"{rule}, {note}: the rest" for name, rule in self.rules.items()}
        held_rules = {name: f"{rule}, {note}: these" for name, rule in self.rules.items()}
        return replace(self, rules=rules, items=training), replace(self, rules=held_rules, items=held_out)

    def save(self, path: str | Path) -> None:
        """Write the budget to ``path`` as a small JSON file, whole or not at all."""
        write_file(Path(path), self.to_json().encode())

    def to_json(self) -> str:
        """Return the content of the budget's file."""
        return json.dumps({"format": FORMAT, **self.__dict__}) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> LabelBudget:
        """Read the budget that ``save`` wrote to ``path``."""
        try:
            content = json.loads(Path(path).read_text())
            found = content.pop("format")
            items = {
                name: v if v == "all" else tuple(map(int, v)) for name, v in content.pop("items").items()
            }
            budget = cls(**content, items=items)
        except OSError as error:
            raise DataError(f"label budget {path}: cannot be read ({error.strerror}).") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"label budget {path}: not a budget file ({error!r}); draw it again.") from error
        if found != FORMAT:
            raise DataError(f"label budget {path}: format {found}; this version reads format {FORMAT}.")
        return budget

    def _checked(self, dataset: Dataset) -> list[str]:
        """Return the names of the budget's factors, after checking that the data set is the right one."""
        found = dataset.fingerprint()
        if self.fingerprint != found:
            raise DataError(
                f"this label budget was drawn for other data than {dataset.name} holds now (fingerprint "
                f"{self.fingerprint}, not {found}): restore {self.dataset} as it was, or start again with these data."
            )
        return [dataset.factor(name).name for name in self.items]

    def _mask(self, dataset: Dataset, name: str) -> Tensor:
        """Return which items' label of this factor may be used, bool ``(N,)``."""
        items = self.items[name]
        if items == "all":
            return torch.ones(len(dataset), dtype=torch.bool)
        mask = torch.zeros(len(dataset), dtype=torch.bool)
        return mask.index_fill(0, rows_of_ids(dataset, items, name), True)


def _ids(dataset: Dataset, rows: Tensor) -> tuple[int, ...]:
    return tuple(dataset.ids.cpu()[rows].sort().values.tolist())
