"""The site methods of a trace: one for each distribution, with torch.distributions' argument names.

Every method ends in the same keywords, ``value``, ``name``, ``gradient`` and ``event_dims``, and returns the site's
value: see :class:`unknot.Trace`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
import torch.distributions as td
from torch import Tensor

from unknot.core import distributions
from unknot.core.distributions import Number, match_dtype, stick_breaking_count
from unknot.core.gradients import ScoreFunction
from unknot.core.relaxed import BinaryConcrete, Concrete

Gradient = str | ScoreFunction | None


class Sites(ABC):
    """Real methods, seen by editors and type checkers; each makes a distribution and calls ``variable``."""

    @abstractmethod
    def variable(
        self,
        dist: td.Distribution,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor: ...

    def normal(
        self,
        loc: Number,
        scale: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Gaussian with mean ``loc`` and standard deviation ``scale``; pathwise by default.

        >>> from unknot import Trace
        >>> Trace(samples=5).normal(torch.zeros(8, 2), 1.0, name="z").shape
        torch.Size([5, 8, 2])
        """
        loc, scale = match_dtype(value, loc, scale)
        dist = distributions.normal(loc, scale)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def log_normal(
        self,
        loc: Number,
        scale: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """The exponential of a Gaussian with mean ``loc`` and standard deviation ``scale``; pathwise by default.

        >>> from unknot import Trace
        >>> bool((Trace().log_normal(torch.zeros(8, 2), 1.0, name="z") > 0).all())
        True
        """
        loc, scale = match_dtype(value, loc, scale)
        dist = td.LogNormal(loc, scale, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def laplace(
        self,
        loc: Number,
        scale: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Double exponential around ``loc``, of mean distance ``scale`` from it; pathwise by default.

        >>> from unknot import Trace
        >>> Trace().laplace(torch.zeros(8, 2), 1.0, name="z").shape
        torch.Size([8, 2])
        """
        loc, scale = match_dtype(value, loc, scale)
        dist = td.Laplace(loc, scale, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def student_t(
        self,
        df: Number,
        loc: Number = 0.0,
        scale: Number = 1.0,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Student's t with ``df`` degrees of freedom, around ``loc`` and ``scale`` wide; pathwise by default.

        >>> from unknot import Trace
        >>> Trace().student_t(4.0, torch.zeros(8, 2), name="z").shape
        torch.Size([8, 2])
        """
        df, loc, scale = match_dtype(value, df, loc, scale)
        dist = td.StudentT(df, loc, scale, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def uniform(
        self,
        low: Number,
        high: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Uniform between ``low`` and ``high``; pathwise by default.

        >>> from unknot import Trace
        >>> Trace().uniform(torch.zeros(8, 2), 1.0, name="u").shape
        torch.Size([8, 2])
        """
        low, high = match_dtype(value, low, high)
        dist = td.Uniform(low, high, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def beta(
        self,
        concentration1: Number,
        concentration0: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Beta on the unit interval; pathwise by default.

        ``concentration1`` pulls towards one, ``concentration0`` towards zero; the mean is the share of the first.

        >>> from unknot import Trace
        >>> Trace().beta(torch.ones(8), 2.0, name="share").shape
        torch.Size([8])
        """
        concentration1, concentration0 = match_dtype(value, concentration1, concentration0)
        dist = td.Beta(concentration1, concentration0, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def gamma(
        self,
        concentration: Number,
        rate: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Gamma with shape ``concentration`` and ``rate``; pathwise by default.

        >>> from unknot import Trace
        >>> Trace().gamma(torch.ones(8, 2), 1.0, name="rate").shape
        torch.Size([8, 2])
        """
        concentration, rate = match_dtype(value, concentration, rate)
        dist = td.Gamma(concentration, rate, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def dirichlet(
        self,
        concentration: Tensor,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Dirichlet on the simplex, with ``concentration`` (..., K); pathwise by default.

        >>> from unknot import Trace
        >>> Trace().dirichlet(torch.ones(8, 3), name="topics").shape
        torch.Size([8, 3])
        """
        dist = td.Dirichlet(concentration, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def multivariate_normal(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Gaussian with mean ``loc`` (..., D) and full covariance; pathwise by default.

        One of three says how it spreads, each (..., D, D): ``covariance_matrix``, its inverse ``precision_matrix``, or
        its lower Cholesky triangle ``scale_tril``.

        >>> from unknot import Trace
        >>> Trace().multivariate_normal(torch.zeros(8, 2), torch.eye(2), name="z").shape
        torch.Size([8, 2])
        """
        dist = td.MultivariateNormal(
            loc, covariance_matrix, precision_matrix, scale_tril, validate_args=False
        )
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def von_mises(
        self,
        loc: Tensor,
        concentration: Tensor,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """An angle around ``loc``, the closer the larger ``concentration``.

        Score function by default, since torch has no pathwise draw.

        >>> from unknot import Trace
        >>> Trace().von_mises(torch.zeros(8), torch.tensor(4.0), name="angle").shape
        torch.Size([8])
        """
        dist = td.VonMises(loc, concentration, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def concrete(
        self,
        logits: Tensor,
        temperature: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """One of K classes, relaxed to the simplex; soft draws (``gradient="concrete"``) by default.

        ``logits`` (..., K) are log-probabilities up to a constant; the lower the ``temperature``, one positive number
        for the site, the harder the draws. Values are vectors of size K. Labels are class indices or one-hot
        vectors, and are scored by the categorical mass; how draws are scored is told in :mod:`unknot.core.relaxed`, and
        draws of items with evidence on their class in :mod:`unknot.core.potentials`.

        >>> from unknot import Trace, partial
        >>> q = Trace()
        >>> y = q.concrete(torch.zeros(3, 4), 0.66, value=partial(torch.tensor([2, -1, 0])), name="y")
        >>> y[0]
        tensor([0., 0., 1., 0.])
        >>> round(q["y"].log_prob[0].exp().item(), 3)
        0.25
        """
        dist = Concrete(torch.as_tensor(logits), temperature)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def relaxed_bernoulli(
        self,
        temperature: Number,
        probs: Number | None = None,
        logits: Number | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """A yes or no, relaxed to the unit interval; soft draws by default. Labels 0 and 1 have a mass.

        ``probs`` or ``logits`` say how probable a yes is; the lower the ``temperature``, the harder the draws.

        >>> from unknot import Trace
        >>> Trace().relaxed_bernoulli(0.5, logits=torch.zeros(8, 3), name="on").shape
        torch.Size([8, 3])
        """
        dist = BinaryConcrete(td.Bernoulli(probs, logits, validate_args=False).logits, temperature)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def categorical(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """One of K classes as an index; score function by default, or ``gradient="enumerate"``.

        ``probs`` or ``logits`` (..., K) say how probable each class is.

        >>> from unknot import Trace
        >>> Trace().categorical(logits=torch.zeros(8, 3), name="count", gradient="enumerate").shape
        torch.Size([3, 1, 1])
        """
        dist = distributions.categorical(probs, logits)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def stick_breaking_count(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """The number of turns of a loop, 0 to K; score function by default, or ``gradient="enumerate"``.

        ``probs`` or ``logits`` (..., K) say how probable it is to stop *before* each turn, if the loop has come so far
        (:func:`unknot.core.distributions.stick_breaking_count`). What happened in the turns is kept by
        :meth:`unknot.Trace.keep_where`.

        >>> from unknot import Trace
        >>> Trace().stick_breaking_count(logits=torch.zeros(8, 3), name="count", gradient="enumerate").shape
        torch.Size([4, 1, 1])
        """
        dist = stick_breaking_count(td.Bernoulli(probs, logits, validate_args=False).logits)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def one_hot_categorical(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """One of K classes as a one-hot vector; score function by default.

        ``probs`` or ``logits`` (..., K) say how probable each class is.

        >>> from unknot import Trace
        >>> Trace().one_hot_categorical(logits=torch.zeros(8, 3), name="y", gradient="plug_in")[0]
        tensor([0.3333, 0.3333, 0.3333])
        """
        dist = td.OneHotCategorical(probs, logits, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def bernoulli(
        self,
        probs: Number | None = None,
        logits: Number | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """0 or 1; score function by default. Observed values between 0 and 1 are scored as probabilities.

        ``probs`` or ``logits`` say how probable a 1 is.

        >>> from unknot import Trace
        >>> p = Trace()
        >>> x = p.bernoulli(logits=torch.zeros(2, 3), value=torch.ones(2, 3), name="x")
        >>> p["x"].log_prob
        tensor([-2.0794, -2.0794])
        """
        if logits is not None:
            (logits,) = match_dtype(value, logits)
        if probs is not None:
            (probs,) = match_dtype(value, probs)
        dist = distributions.bernoulli(probs, logits)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def poisson(
        self,
        rate: Number,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """A count of mean ``rate``; score function by default.

        >>> from unknot import Trace
        >>> Trace().poisson(torch.ones(8), name="n").shape
        torch.Size([8])
        """
        (rate,) = match_dtype(value, rate)
        dist = td.Poisson(rate, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)

    def multinomial(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        value: Any = None,
        *,
        name: str,
        gradient: Gradient = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """Counts of K outcomes, such as the words of a document; score function by default.

        ``probs`` or ``logits`` (..., K) say how probable each outcome is. Observed documents may differ in length:
        ``total_count`` only matters for draws.

        >>> from unknot import Trace
        >>> Trace().multinomial(20, logits=torch.zeros(8, 3), name="words").sum(-1)[0]
        tensor(20.)
        """
        dist = td.Multinomial(total_count, probs, logits, validate_args=False)
        return self.variable(dist, value, name=name, gradient=gradient, event_dims=event_dims)
