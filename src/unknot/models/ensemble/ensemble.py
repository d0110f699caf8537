"""Ensemble: many small semi-supervised models of a table as one, joined by labels hidden from each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unknot.core.evidence import GivenValues, Partial, partial
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.ensemble.factors import MemberClasses, MemberFactor, member_factor
from unknot.models.ensemble.labels import HeldEvidence, HeldLabels, hold_evidence, hold_labels
from unknot.models.ensemble.networks import MemberEncoders, MemberGenerators
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.models.ensemble.table_views import RANK, STANDARD, TableViews, Views

MOST_EVIDENCE = 5.0  # weight of rows whose label is not one class, relative to those with one
MOST_LABELS = 1000  # labeled rows that a training step looks at


class Ensemble(Program):
    """S settings in F folds make M = S F members, each a model of S17's kind with weights of its own:

        p(y) p(z) p(x | y, z)   and   q(y | x) q(z | x, y)

    with p(y) learned, classes enumerated and a normal for each column. No member sees all labels: those of its fold are
    hidden. **Training** runs the members side by side, M B items for B rows (:meth:`forward`). A member maximizes
    the bound of S17 Eq. 8 (whose weights are constant here), for rows with a visible label that of log p(x, y), plus

        α (mean over its n visible labels of log q(y | x) - R / n),      R = ½ ridge |W|² + ...

    the classifier of Eq. 7 over *all* its labels in every step, and a Gaussian prior on the encoder's weights. Both
    are log-terms of p, ``labels`` and ``ridge``, the same number at every item; a setting without a generator has
    these alone. Rows with evidence instead of a label (several classes, votes of raters) are seen by all members and
    add the mean of log Σ_y ψ(y) q(y | x).

    **In use** (:meth:`encode`, :meth:`decode`) it is one model of B items. Its q(y | x) is the mixture of the members'
    over settings, with weights and a temperature fitted to the hidden labels (:meth:`finalize`); style and data are
    those of one member of the best setting with a decoder, the one at ``generator_index``.

    Parameters
    ----------
    spec : EnsembleSpec
        The ensemble as data.
    """

    def __init__(self, spec: EnsembleSpec) -> None:
        super().__init__()
        self.spec = spec
        self.members = [one for one in spec.settings for _ in range(spec.folds)]
        self.generating = sum(one.generative for one in self.members)
        sizes = {str(i): one.size or 0 for i, one in enumerate(spec.factors)}  # names may be any
        self.views = TableViews(spec.columns, spec.rows, any(one.plain for one in spec.settings))
        width = self.views.width
        self.encoders = MemberEncoders(self.members, self.views.inputs, width, spec.hidden, sizes)
        self.generators = MemberGenerators(self.generating, width, spec.hidden, spec.style, sizes)
        self.factors = nn.ModuleList([member_factor(n, spec, self.generating) for n in spec.factors])
        self.register_buffer("generator_index", torch.zeros((), dtype=torch.long))
        self.generator_index: Tensor
        self._folded: int | None = None
        self._held: dict[str, HeldLabels] = {}
        self._evidence: dict[str, HeldEvidence] = {}

    # ---- before and after training ------------------------------------------------------------------

    @torch.no_grad()
    def prepare(self, data: Any) -> None:
        """Take the columns' statistics from all rows of a data set, and its labels, dealt into folds."""
        factors = [data.factors[one.name] for _, one in self._factors()]
        labeled = torch.stack([one.known for one in factors]).any(0)
        if not bool(labeled.any()):
            labeled = torch.stack([one.observed for one in factors]).any(0)
        self.views.learn(data.x[:], labeled)
        for key, factor in self._factors():
            held = hold_labels(factor, data, self.views)
            start = factor.learn(held.labels, held.visible)
            if start is not None:
                self.encoders.bias[key].copy_(start[:, None])
            self._held[key] = held
            evidence = hold_evidence(factor, data, self.views)
            if evidence is not None:
                self._evidence[key] = evidence
                if isinstance(factor, MemberClasses) and factor.raters is not None:
                    factor.raters.learn(data.factors[factor.name])

    @torch.no_grad()
    def finalize(self) -> None:
        """Fit the stacking weights and the temperature to the labels, by members from which each was hidden."""
        self._refuse_unprepared()
        total = torch.zeros(len(self.spec.settings), device=self.generator_index.device)
        for key, factor in self._factors():
            # by the members whose fold hides the label
            factor.fit_stacking(self._hidden_outputs(key), self._held[key].labels.values)
            total += factor.weights
        best = int(total[: self.generating // self.spec.folds].argmax())
        self._folded = None
        self.generator_index.fill_(best * self.spec.folds)

    @torch.no_grad()
    def out_of_fold(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Predict each label by the members from which it was hidden, with stacking weights of the other folds."""
        self._refuse_unprepared()
        found = {}
        for key, factor in self._factors():
            held = self._held[key].to(self.generator_index.device)
            out = self._hidden_outputs(key)
            predictions = factor.stacked_out_of_fold(out, held.labels.values, held.folds)
            found[factor.name] = (held.ids, predictions)
        return found

    def fold(self) -> None:
        """Keep the member that generates as a number, for a model that is not trained any further.

        An exported graph then does not choose it from a tensor.
        """
        self._folded = int(self.generator_index)

    def _hidden_outputs(self, key: str) -> Tensor:
        """Return for each label the output of every setting's member that did not see it, ``(S, n, C)``."""
        held = self._held[key].to(self.generator_index.device)
        out = self.encoders(held.inputs, len(self.members))[key]
        settings = torch.arange(len(self.spec.settings), device=out.device)[:, None]
        return out[settings * self.spec.folds + held.folds, torch.arange(len(held.folds), device=out.device)]

    # ---- in use: one model of B items ---------------------------------------------------------------

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """Run the encoder of rows ``(B, C)``: the ensemble's q(y | x), and one member's q(z | x, y).

        Parameters
        ----------
        x : Tensor
            Rows, NaN for missing values.
        labels : mapping from str to Tensor or Partial, optional
            By factor, class indices ``(B,)`` with -1 for unknown, or numbers ``(B,)`` or ``(B, D)`` with NaN.
        samples : int, optional
            The number of draws of every node, on a leading axis; by default one, without the axis.
        """
        views = self.views(x)
        outputs = self.encoders(views.inputs, len(self.members))
        q, codes = Trace(samples=samples), {}
        for key, factor in self._factors():
            given = (labels or {}).get(factor.name)
            value = None if given is None else factor.value(given)
            codes[key] = factor.joint_site(q, outputs[key], value)
        rows = self._rows(views, self._generator)
        q.normal(
            *self.generators.style(rows, codes, self._generator), name=self.spec.style_name, event_dims=1
        )
        return q

    @torch.no_grad()
    def member_predictions(self, x: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        outputs = self.encoders(self.views(x).inputs, len(self.members))
        return {
            factor.name: (
                outputs[key].softmax(-1),
                factor.weights.repeat_interleave(factor.folds) / factor.folds,
            )
            for key, factor in self._factors()
            if isinstance(factor, MemberClasses)
        }

    @torch.no_grad()
    def rater_confusion(self) -> dict[str, Tensor]:
        factors = [one for _, one in self._factors() if isinstance(one, MemberClasses)]
        return {one.name: one.raters.confusion() for one in factors if one.raters is not None}

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the decoder of one member.

        Parameters
        ----------
        x : Tensor or None
            The rows to score; None: none.
        q : Trace or GivenValues
            An encoder's trace, or ``unknot.given(...)`` to generate.
        """
        p, features = self._generate(q, self._generator, 1)
        self._score(p, features, x, None if x is None else self.views(x), self._generator)
        return p

    def expected_data(self, q: Trace | GivenValues) -> Tensor:
        """Expected rows ``(B, C)``, in the table's own units, at the values in ``q``."""
        return self.views.entries(*self._expected_view(q))

    def sample_data(self, q: Trace | GivenValues) -> Tensor:
        """Rows ``(B, C)`` drawn at the values in ``q``, with the noise of each column."""
        view, rank = self._expected_view(q)
        return self.views.drawn(view, self.generators.scales(self._generator)[0, 0], rank)

    def _expected_view(self, q: Trace | GivenValues) -> tuple[Tensor, bool]:
        """Return the expected view ``(B, D)`` at the values in ``q``, and whether it is the one by rank."""
        _, features = self._generate(q, self._generator, 1)
        return self.generators.columns(features, self._generator), self.members[self._generator.start].rank

    # ---- in training: M B items -----------------------------------------------------------------------

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        """Run both programs of all members with a decoder, M B items, and add the label terms of all members.

        Parameters
        ----------
        batch : Batch
            Rows ``x``, their ``ids`` and, by factor, label ``values``.
        """
        self._refuse_unprepared()
        members = slice(0, self.generating)
        views = self.views(batch.x)
        outputs = self.encoders(views.inputs, self.generating)
        q, codes = Trace(), {}
        for key, factor in self._factors():
            labels = self._visible(factor.value(batch.values[factor.name]), self._held[key], batch.ids)
            potential = factor.evidence(batch)
            if potential is not None:
                labels = _with_potential(labels, potential)
            codes[key] = factor.member_site(q, outputs[key], labels)
        rows = self._rows(views, members)
        q.normal(*self.generators.style(rows, codes, members), name=self.spec.style_name, event_dims=1)
        p, features = self._generate(q, members, len(batch.x))
        self._score(p, features, batch.x, views, members)
        for name, term in self._label_terms().items():
            # the total is a mean over items
            p.log_term((term / self.generating).expand(len(rows)), name=name)
        return q, p

    def _label_terms(self) -> dict[str, Tensor]:
        """``Σ_members α mean log q(y | x)`` and ``-Σ_members α R / n``, over factors."""
        alpha, ridge, ridge_hidden = (self._each(key) for key in ("alpha", "ridge", "ridge_hidden"))
        fit = penalty = torch.zeros((), device=alpha.device)
        for key, factor in self._factors():
            held = self._held[key]
            rows: Any = slice(None)
            if len(held.folds) > MOST_LABELS:
                rows = torch.randperm(len(held.folds))[:MOST_LABELS].to(alpha.device)
            out = self.encoders(held.inputs[rows], len(self.members))[key]
            visible = held.visible[:, rows]
            log_q = torch.where(visible, factor.log_q(out, held.labels.values[rows]), 0.0)  # (M, n)
            fit = fit + (alpha * log_q.sum(1) / visible.sum(1).clamp_min(1)).sum()
            linear = ridge * self.encoders.linear_length(key)
            hidden = ridge_hidden * self.encoders.hidden_length(key)
            count = held.visible.sum(1)
            if key in self._evidence and isinstance(factor, MemberClasses):
                evidence = self._evidence[key]
                # as likelihoods, n rows of evidence weigh n / n_labels times the mean over labels; that is limited
                share = torch.where(
                    count > 0, (len(evidence) / count.clamp_min(1)).clamp_max(MOST_EVIDENCE), 1.0
                )
                fit = fit + (share * alpha * self._log_q_evidence(key, factor, evidence).mean(1)).sum()
                count = torch.where(count > 0, count, len(evidence))
                if factor.raters is not None:
                    fit = fit + alpha.mean() * len(self.members) * factor.raters.log_prior() / len(evidence)
            penalty = penalty - (alpha * factor.penalty(linear, hidden) / count.clamp_min(1)).sum()
        return {"labels": fit, "ridge": penalty}

    def _log_q_evidence(self, key: str, factor: MemberClasses, evidence: HeldEvidence) -> Tensor:
        """``log q(e | x)`` of every member, (M, n), for at most ``MOST_LABELS`` rows with evidence."""
        if len(evidence) > MOST_LABELS:
            rows = torch.randperm(len(evidence))[:MOST_LABELS].to(evidence.inputs.device)
            evidence = evidence.select(rows)
        out = self.encoders(evidence.inputs, len(self.members))[key]
        return factor.log_q_evidence(out, factor.log_potential(evidence.evidence, evidence.votes))

    def _visible(self, labels: Partial, held: HeldLabels, ids: Tensor) -> Partial:
        """The labels of a batch as each member may see them, for M B items."""
        if not len(held.ids):
            return partial(
                labels.values.repeat(self.generating),
                torch.zeros(self.generating * len(ids), dtype=torch.bool),
            )
        place = torch.searchsorted(held.ids, ids).clamp_max(len(held.ids) - 1)
        shown = held.visible[: self.generating, place] & (held.ids[place] == ids) & labels.known
        values = labels.values.repeat(self.generating, *(1,) * (labels.values.ndim - 1))
        return partial(values, shown.flatten())

    # ---- parts --------------------------------------------------------------------------------------

    def _generate(self, q: Trace | GivenValues, members: slice, items: int) -> tuple[Trace, Tensor]:
        """Return p with all latent sites, and the features that the columns are linear in."""
        p = Trace()
        codes = {key: factor.prior_site(p, q[factor.name], members, items) for key, factor in self._factors()}
        zeros = torch.zeros(self.spec.style, device=self.generator_index.device)
        z = p.normal(
            zeros,
            torch.ones_like(zeros),
            value=q[self.spec.style_name],
            name=self.spec.style_name,
            event_dims=1,
        )
        return p, self.generators.features(z, codes, members)

    def _score(
        self, p: Trace, features: Tensor, x: Tensor | None, views: Views | None, members: slice
    ) -> None:
        """The data's site: the likelihood of the columns in the view that the members make."""
        if x is None or views is None:
            p.loss(lambda made, _: made, features, None, name=self.spec.data_name)
            return
        rows = self._rows(views, members)
        count = len(rows) // len(x)
        seen = views.seen.repeat(count, 1)

        def loss(made: Tensor, _: Tensor) -> Tensor:
            return -self.generators.log_likelihood(made, rows, seen, members)

        p.loss(loss, features, x.repeat(count, 1), name=self.spec.data_name)

    def _rows(self, views: Views, members: slice) -> Tensor:
        """Return the view that each member's decoder models, ``(M B, D)``."""
        which = [RANK if one.rank else STANDARD for one in self.members[members]]
        return views.columns[torch.tensor(which, device=views.columns.device)].flatten(0, 1)

    def _factors(self) -> list[tuple[str, MemberFactor]]:
        """Every factor with the key of its weights in the networks."""
        return [(str(i), one) for i, one in enumerate(self.factors) if isinstance(one, MemberFactor)]

    @property
    def _generator(self) -> slice:
        index = int(self.generator_index) if self._folded is None else self._folded
        return slice(index, index + 1)

    def _each(self, key: str) -> Tensor:
        """A setting's number for every member, (M,)."""
        return torch.tensor(
            [float(getattr(one, key)) for one in self.members], device=self.generator_index.device
        )

    def _refuse_unprepared(self) -> None:
        if not self._held:
            raise SpecError("ensemble: prepare(data) comes before training, as unknot.train.fit does it.")


def _with_potential(labels: Partial, potential: Tensor) -> Partial:
    """Join labels of M B items with log-potentials ``(B, K)`` of the items that all members see."""
    marks = one_hot(labels.values.clamp_min(0), potential.shape[1]) == 1
    shown = labels.known[:, None]
    potential = potential.repeat(len(marks) // len(potential), 1)
    joined = torch.where(shown & ~marks, -torch.inf, potential)
    top = joined.detach().amax(1, keepdim=True)
    return partial(probabilities=(joined - top).exp())
