"""The contract of a model: everything that training, prediction, reports and nesting may ask of it.

A model is two programs that return traces, an encoder and a decoder. That is all a user has to write
(:class:`EncoderDecoder`), in a plain ``nn.Module``. Everything else has a default in :class:`Program`, and
:func:`as_program` adds the defaults to a user's module. The rest of the package calls methods of :class:`Program` and
never asks whether they exist.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli

from unknot.core.evidence import GivenValues, Partial, given, site_value
from unknot.core.handlers import condition, replay
from unknot.core.node import Loss, Node, Variable
from unknot.core.site_prediction import SitePrediction, predict_site
from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.errors import SpecError

Labels = Mapping[str, Tensor | Partial]


class EncoderDecoder(Protocol):
    """What a user has to write: an encoder and a decoder, each of which returns its trace.

    ``encode`` may take ``labels`` and ``samples`` after ``x``, see :meth:`Program.encode`.
    """

    def encode(self, x: Tensor, /) -> Trace: ...

    def decode(self, x: Any, q: Any, /) -> Trace: ...


class Program(nn.Module):
    """Base class of models: an encoder, a decoder, and defaults for the other methods.

    The library's own models inherit from this class. A user's module may, but does not have to: see
    :func:`as_program`.
    """

    # ---- the two programs ---------------------------------------------------------------------------

    def encode(self, x: Tensor, labels: Labels | None = None, samples: int | None = None) -> Trace:
        """Run the encoder.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.
        labels : mapping from factor to Tensor or Partial, optional
            Class indices ``(B,)`` with -1 for unknown, or numbers ``(B, D)`` with NaN for unknown.
        samples : int, optional
            The number of draws of every site, on a leading axis. By default one, without the axis.

        Returns
        -------
        Trace
        """
        raise SpecError(_missing(self, "encode(x)"))

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the decoder.

        Parameters
        ----------
        x : Tensor or None
            The items to score. None generates them.
        q : Trace or GivenValues
            The values of the latent variables: the encoder's trace, or ``unknot.given(...)`` to generate.

        Returns
        -------
        Trace
        """
        raise SpecError(_missing(self, "decode(x, q)"))

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        """Run both programs on a batch, as a training step does. By default all labels of the batch are passed on.

        Parameters
        ----------
        batch : Batch
            Items ``x`` and, by factor, label ``values``: see :class:`unknot.data.Batch`. Labels that are not single
            values are passed on as a :class:`~unknot.core.evidence.Partial`.

        Returns
        -------
        q, p : Trace
        """
        q = self.encode(batch.x, {name: site_value(batch, name) for name in batch.values})
        return q, self.decode(batch.x, q)

    def member_predictions(self, x: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """Return the predictions of the members of a model that is a mixture; by default there are none.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.

        Returns
        -------
        dict from str to tuple of Tensor
            By factor class probabilities ``(M, B, K)``, and the members' weights ``(M,)``.
        """
        return {}

    def rater_confusion(self) -> dict[str, Tensor]:
        """Return p(reported class | class) of the raters of each factor, ``(M, K, K)``; by default there are none."""
        return {}

    # ---- training -----------------------------------------------------------------------------------

    def prepare(self, data: Any) -> None:
        """Take from the training data what training starts from. Called once, before the first step.

        Parameters
        ----------
        data : Dataset
            All items, on the device of the training, with the labels that may be used.
        """

    def finalize(self) -> None:
        """Compute what depends on the final weights. Called once, after the last step."""

    def out_of_fold(self) -> Mapping[str, tuple[Tensor, Tensor]]:
        """Return predictions for labels that were hidden from a part of the model, after training; by default none.

        A model of several members, each of which does not see some labels, can estimate its error without being
        trained again.

        Returns
        -------
        mapping from factor to (ids, predictions)
            The ids of labeled items, ``(n,)``, and class probabilities ``(n, K)`` or means ``(n, D)`` for them, by
            members that did not see the label.
        """
        return {}

    def item_features(self) -> nn.Module | None:
        """Return features of items that :meth:`prepare` has learned (:mod:`unknot.models.features`), or None."""
        return None

    def set_temperature(self, value: float) -> None:
        """Set the temperature of relaxed draws, as the schedule ``train.temperature`` gives it for each step.

        A plain module with a buffer called ``temperature`` does not have to define this method.
        """
        raise SpecError(
            f"train.temperature: {_name(self)} has no temperature to set; give it a buffer 'temperature' or a method "
            "set_temperature(value), or remove the setting"
        )

    def sleep_phase(self, count: int) -> tuple[Trace, Trace]:
        """Run the encoder on generated items, at the values from which they were generated (Hinton et al. 1995).

        The items carry no gradient, so the decoder does not learn from them. A program whose sub-models write traces of
        their own overrides this method and passes them the generated values as labels.

        Parameters
        ----------
        count : int
            The number of items.

        Returns
        -------
        q, p : Trace
            Every site of q is observed.
        """
        asked = given(count)
        with torch.no_grad():
            p = trace(self.decode, None, asked)
            if _overrides(self, "sample_data", "expected_data", "decode_mean"):
                x = self.sample_data(p)
            else:
                x = sampled_value(p[data_site(asked, p)])
        with replay(p):
            q = trace(self.encode, x)
        return q, p

    # ---- regularizers -------------------------------------------------------------------------------

    def augment(self, x: Tensor, scored: bool) -> Tensor | None:
        """Return a random view of training items, ``(B, ...)``; None, the default, if the program has no augmentation.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.
        scored : bool
            Whether the decoder scores the view, in the place of the items.
        """
        return None

    def factors_and_style(self, q: Trace, batch: Any) -> tuple[list[str], list[str]]:
        """Return the sites of q that take labels, and those without labels that are inferred from the data.

        By default the variables whose names are among the labels of the batch, and all others.
        """
        names = [node.name for node in q.variables()]
        return [n for n in names if n in batch.values], [n for n in names if n not in batch.values]

    def site_prediction(self, node: Variable) -> SitePrediction:
        """Return the mode of a site of the encoder, and how confident it is."""
        return predict_site(node)

    def site_features(self, name: str, value: Tensor) -> Tensor:
        """Return values of a site as vectors ``(..., D)`` whose distances can be compared; by default the values."""
        return value

    def score_latents(self, x: Tensor, scored: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> Trace:
        """Return the encoder's distributions of some sites for items ``x``, each observed at a given value.

        By default the encoder is run with all values observed.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.
        scored : mapping from site to Tensor
            The sites to return, with the values ``(B, event...)`` at which they are scored.
        values : mapping from site to Tensor
            The values of all sites, for the sites that depend on them.
        """
        q = Trace()
        together = all(values.get(name) is value for name, value in scored.items())
        for run in [scored] if together else [{name: value} for name, value in scored.items()]:
            with condition({**values, **run}):
                one = trace(self.encode, x)
            for name in run:
                q._store(name, one[name])
        return q

    def derive_latent(self, name: str, values: Mapping[str, Tensor]) -> Tensor:
        """Return a draw of a site that is computed from other sites alone, at their values; without gradient."""
        raise SpecError(_missing(self, "derive_latent(name, values)"))

    # ---- generation ---------------------------------------------------------------------------------

    def decode_mean(self, q: Trace | GivenValues) -> tuple[Trace, Tensor]:
        """Run the decoder up to the data, for use as a part of another program.

        By default the decoder generates, and the mean of its data site is taken: the mean of the distribution, or the
        prediction that a loss compares with the data.

        Parameters
        ----------
        q : Trace or GivenValues
            The values of the latent variables.

        Returns
        -------
        p : Trace
            The latent variables, scored at their values in ``q``.
        mean : Tensor
            The expected data, ``(..., B, event...)``, neither drawn nor scored.
        """
        p = trace(self.decode, None, q)
        site = data_site(q, p)
        return _without(p, site), _mean(p[site])

    def expected_data(self, q: Trace | GivenValues) -> Tensor:
        """Return the expected data ``(B, event...)`` at the values in ``q``; by default that of :meth:`decode_mean`."""
        return self.decode_mean(q)[1]

    def sample_data(self, q: Trace | GivenValues) -> Tensor:
        """Draw data ``(B, event...)`` at the values in ``q``.

        By default the value that the decoder's data site draws. Bernoulli sites give their mean: they score gray
        values, but would draw black and white. So does a program that defines only its expected data.
        """
        if _overrides(self, "expected_data", "decode_mean"):
            return self.expected_data(q)
        p = trace(self.decode, None, q)
        return sampled_value(p[data_site(q, p)])

    # ---- prediction ---------------------------------------------------------------------------------

    def predictions(self, q: Trace) -> dict[str, Tensor]:
        """Return predictions for factors that are not sites of the encoder.

        Sites are predicted under their own names. A program whose labels have other names, or are computed from several
        sites, adds them here.

        Parameters
        ----------
        q : Trace
            The encoder's trace, every site at its mode.

        Returns
        -------
        dict from factor to Tensor
            Class probabilities ``(B, K)`` or means ``(B, D)``.
        """
        return {}

    def not_applicable(self, predictions: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return, by factor, the items that do not have it, ``(B,)`` of bool: tables leave their prediction empty.

        Parameters
        ----------
        predictions : mapping from factor to Tensor
            Those of the sites and of :meth:`predictions`.
        """
        return {}

    def candidates(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]] | None:
        """Return several candidate predictions for uncertain items; the one with the largest ELBO is used.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.

        Returns
        -------
        rows : Tensor
            For each of R candidates the row of its item in ``x``, ``(R,)``.
        labels : dict from factor to Tensor
            The R candidates, as :meth:`encode` takes labels.

        Notes
        -----
        None, the default, stands for no candidates: every site is predicted at its mode.
        """
        return None

    def candidate_traces(self, x: Tensor, labels: Labels) -> tuple[Trace, Trace]:
        """Return both traces of items ``x`` at candidate ``labels``."""
        q = self.encode(x, labels)
        return q, self.decode(x, q)

    # ---- reports ------------------------------------------------------------------------------------

    def parts(self, q: Trace) -> Tensor | None:
        """Return the K parts that items consist of, each drawn alone, ``(B, K, ...)``; None if there are no parts."""
        return None

    def boxes(self, q: Trace) -> tuple[Tensor, list[str]] | None:
        """Return the bounding boxes of the parts ``(B, K, 3)``, as x, y and side, and for each part its factor.

        Coordinates are NaN for parts that an item does not have. None, the default, if there are no parts.
        """
        return None


def as_program(module: nn.Module | EncoderDecoder) -> Program:
    """Add the defaults of :class:`Program` to a user's module.

    Parameters
    ----------
    module : nn.Module or EncoderDecoder
        A module with ``forward(batch)`` that returns the traces (q, p), or with ``encode`` and ``decode``, or all
        three. Any further method of :class:`Program` that it has is used instead of the default; so is a buffer called
        ``temperature``. An ``encode`` without a parameter for labels is called without them.

    Returns
    -------
    Program
        The module itself if it is a :class:`Program`, else a wrapper that shares its weights.

    Examples
    --------
    >>> class Line(nn.Module):
    ...     def encode(self, x):
    ...         q = Trace()
    ...         q.normal(x, 1.0, name="z")
    ...         return q
    ...     def decode(self, x, q):
    ...         p = Trace()
    ...         z = p.normal(torch.zeros(1), 1.0, value=q["z"], name="z")
    ...         p.normal(2 * z, 1.0, value=x, name="x")
    ...         return p
    >>> as_program(Line()).expected_data(given(2, z=torch.tensor([[1.0], [2.0]])))
    tensor([[2.],
            [4.]])
    """
    return module if isinstance(module, Program) else _Adapted(module)


def lacks(program: Program, *methods: str) -> list[str]:
    """Return those of the ``methods`` for which a program only has the default.

    Parameters
    ----------
    program : Program
        Any program.
    *methods : str
        Names of methods of :class:`Program`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> lacks(as_program(nn.Linear(2, 2)), "encode", "decode")
    ['encode', 'decode']
    """
    return [name for name in methods if not _overrides(program, name)]


class _Adapted(Program):
    """A user's module with the defaults of :class:`Program`. The module's own methods are bound to the instance."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module
        for name in _METHODS:
            method = getattr(module, name, None)
            is_part = isinstance(method, nn.Module) and name not in ("encode", "decode")
            if callable(method) and not is_part:  # a network that happens to be called ``parts`` is no method
                self.__dict__[name] = method
        if "encode" in self.__dict__:
            self._accepted = _positional(module.encode)
            self.__dict__["encode"] = self._encode
        self._has_forward = isinstance(module, nn.Module) and type(module).forward is not nn.Module.forward

    def forward(self, batch: Any) -> tuple[Trace, Trace]:
        if not self._has_forward:
            return super().forward(batch)
        traces: tuple[Trace, Trace] = self.module(batch)  # called as a module, so that its hooks run
        return traces

    def _encode(self, x: Tensor, labels: Labels | None = None, samples: int | None = None) -> Trace:
        if samples is not None and self._accepted < 3:
            raise SpecError(
                f"{_name(self)}.encode takes no samples, but {samples} are needed; write it as "
                "encode(self, x, labels=None, samples=None) with q = Trace(samples)"
            )
        arguments = (x, labels, samples)[: self._accepted]
        while len(arguments) > 1 and arguments[-1] is None:  # the module's own defaults
            arguments = arguments[:-1]
        q: Trace = self.module.encode(*arguments)
        return q

    def set_temperature(self, value: float) -> None:
        buffer = getattr(self.module, "temperature", None)
        if not isinstance(buffer, Tensor):
            super().set_temperature(value)
        else:
            buffer.fill_(value)


_METHODS = [name for name, value in vars(Program).items() if inspect.isfunction(value) and name != "forward"]


def data_site(q: Trace | GivenValues, p: Trace) -> str:
    """Return the name of the site of p that is the data: the one that q does not propose.

    Parameters
    ----------
    q : Trace or GivenValues
        The encoder's trace, or what the decoder was given to generate from.
    p : Trace
        The decoder's trace.

    Returns
    -------
    str
    """
    latent = {name.removeprefix(q.prefix) for name in q.asked} if isinstance(q, GivenValues) else set(q)
    found = [node.name for node in p.nodes() if node.name not in latent and isinstance(node, Loss | Variable)]
    if len(found) != 1:
        raise SpecError(
            "a program has one data site, which its decoder scores and its encoder does not propose, "
            f"but found: {', '.join(found) or 'none'}."
        )
    return found[0]


def sampled_value(node: Node) -> Tensor:
    """Return the data that a generated site holds; for a Bernoulli site its mean, see :meth:`Program.sample_data`."""
    gray = isinstance(node, Variable) and isinstance(node.dist, Bernoulli)
    return _mean(node) if gray else node.value


def _mean(node: Node) -> Tensor:
    mean: Tensor = node.dist.mean if isinstance(node, Variable) else node.value
    return mean


def _without(p: Trace, site: str) -> Trace:
    """Return a trace of all sites but one."""
    rest = Trace(p.samples)
    for name, node in p.items():
        if name != site:
            rest._store(name, node)
    return rest


def _overrides(program: Program, *methods: str) -> bool:
    """Whether a program has any of the methods itself."""
    return any(
        name in vars(program) or getattr(type(program), name) is not getattr(Program, name)
        for name in methods
    )


def _positional(method: Any) -> int:
    """Return how many arguments a method takes by position, at most three."""
    body = method.forward if isinstance(method, nn.Module) else method
    kinds = [parameter.kind for parameter in inspect.signature(body).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return 3
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return min(3, sum(kind in by_position for kind in kinds))


def _name(program: Program) -> str:
    return type(program.module if isinstance(program, _Adapted) else program).__name__


def _missing(program: Program, method: str) -> str:
    return (
        f"{_name(program)} has no method {method}; a program has encode(x) and decode(x, q), each of which returns its "
        "trace, and generates from decode(None, q)"
    )
