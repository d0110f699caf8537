"""Finder: how many things there are on a canvas, and where; what they are is another's to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from unknot.core.given_values import GivenValues
from unknot.core.partial import Partial, partial
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.canvas.cell_choice import CellChoice
from unknot.models.canvas.glances import Glances
from unknot.suggest import did_you_mean

LOOKS: dict[str, type[CellChoice | Glances]] = {"cell_choice": CellChoice, "glances": Glances}
THING = "thing"  # sites are called thing[0].place, thing[0].digit, ...


class Finder(nn.Module):
    """The part of a model of canvases that counts and finds: two programs of its own.

    **Generative**: a count K, and for each k < K a place a_k. **Recognition**: K and the places by ``looks``, one of
    two ways. A place by cell choice comes with the cell that it was found in, an auxiliary variable: the generative
    program says, given the place, which cell it was found in, so the bound stays a bound for any such say.

    It has no pixels to explain, so on its own it learns from labels alone. The nested model does not run then, and
    nothing is lost by it while that model is frozen and all is known of a canvas: its terms have no gradient here.

    Labels are called ``count``, ``place_1``, ...; arguments as of :class:`~unknot.models.canvas.canvas.Canvas`, and
    ``size``: a thing's usual side, as a share of the canvas.
    """

    def __init__(self, looks: str, canvas: int, size: float, fewest: int, most: int) -> None:
        super().__init__()
        if looks not in LOOKS:
            raise SpecError(
                f"looks: there is no recogniser of places '{looks}'; {did_you_mean(looks, LOOKS)}"
            )
        if not 0 <= fewest < most:
            raise SpecError(f"a canvas holds from fewest to most things, but got {fewest} to {most}.")
        self.size, self.fewest, self.most = size, fewest, most
        self.looks: CellChoice | Glances = LOOKS[looks](canvas, size, fewest, most)

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        """Both programs on a batch, as training calls them."""
        q = self.encode(batch.x, batch.values)
        return q, self.decode(q)

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """The recognition program: labels where known, draws elsewhere."""
        told = {n: v if isinstance(v, Partial) else partial(v) for n, v in (labels or {}).items()}
        looked = self.looks(x, [told.get(f"place_{k + 1}") for k in range(self.most)], samples)
        q = Trace(samples)
        known = told.get("count")
        if known is not None:
            known = partial(known.values - self.fewest, known.known)
        more = q.categorical(
            logits=looked.count, value=known, name="more", gradient="enumerate", event_dims=0
        )
        for k, look in enumerate(looked.looks):
            with q.where(self.there(more, k)):
                q.include(look, THING, k)
        return q

    def decode(self, q: Trace | GivenValues) -> Trace:
        """The generative program: every count is as likely, and a place is anywhere."""
        p = Trace()
        usual = next(self.looks.parameters()).new_tensor
        counts = usual([0.0] * (self.most - self.fewest + 1))
        more = p.categorical(logits=counts, value=q["more"], name="more")
        for k in range(self.most):
            with p.where(self.there(more, k)), p.scope(THING, k):
                place = p.normal(
                    usual([0.0, 0.0, self.size]),
                    usual([0.5, 0.5, 0.2 * self.size]),
                    value=q[f"{THING}[{k}].place"],
                    name="place",
                )
                if isinstance(self.looks, CellChoice):
                    cells = self.looks.cells
                    apart = (place[..., None, :2] - cells.centres).square().sum(-1) / cells.pitch**2
                    p.one_hot_categorical(logits=-2 * apart, value=q[f"{THING}[{k}].cell"], name="cell")
        return p

    def there(self, more: Tensor, k: int) -> Tensor:
        """Whether there is a thing k, for values of the site ``more``."""
        return more + self.fewest > k

    def look_up_to(self, most: int) -> None:
        """Look up to ``most`` times from now on: cell choice knows no last look."""
        if not isinstance(self.looks, CellChoice):
            raise SpecError("only looks: cell_choice can look more often than it was trained to.")
        self.most = self.looks.most = most
