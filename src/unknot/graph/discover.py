"""Run two programs once and read from the run which variable depends on which."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from unknot.core.dependence import Input, Site, SiteRecorder, recorded
from unknot.core.evidence import given
from unknot.core.node import LogTerm, Node, Variable
from unknot.core.tags import Tag
from unknot.core.trace import Trace
from unknot.core.tracing import Call
from unknot.errors import TraceError
from unknot.graph.structure import MODELS, Edge, Graph, GraphNode, Kind, Model

Program = Callable[..., Any]
_PRIOR_BATCH = 13  # items drawn to read a decoder alone; any number that is not also a vector's size will do


def discover(encoder: Program | None, decoder: Program | None, args: tuple, kwargs: dict[str, Any]) -> Graph:
    """The graph of both programs, loops unrolled."""
    with recorded(encoder, decoder) as recorder:
        q, x = _run_encoder(encoder, recorder, args, kwargs)
        p = _run_decoder(decoder, x, q)
    return _Reading(recorder, {"generative": p, "recognition": q}).graph()


def _run_encoder(encoder: Program | None, recorder: SiteRecorder, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The recognition trace, and the data with which the decoder goes on."""
    if encoder is None:
        return None, _tagged(recorder, "x", args[0]) if args else None
    bound = inspect.signature(_body(encoder)).bind(*args, **kwargs)
    for name, value in bound.arguments.items():
        bound.arguments[name] = _tagged(recorder, name, value)
    q = _run(encoder, "encoder", *bound.args, **bound.kwargs)
    return q, next(iter([*bound.args, *bound.kwargs.values()]), None)


def _run_decoder(decoder: Program | None, x: Any, q: Trace | None) -> Trace | None:
    if decoder is None:
        return None
    if q is not None:
        return _run(decoder, "decoder", x, q)
    return _run(decoder, "decoder", x, given(_PRIOR_BATCH if x is None else len(x)))


def _body(program: Program) -> Program:
    """Where the names of a program's arguments are written."""
    program = getattr(program, "_orig_mod", program)  # compiled modules wrap their own
    return program.forward if isinstance(program, nn.Module) else program


def _run(program: Program, who: str, *args: Any, **kwargs: Any) -> Trace:
    """The trace of a program, which knows its event axes."""
    call = Call(program, args, kwargs)
    call.learn()
    result = call.run()
    if not isinstance(result, Trace):
        raise TraceError(
            f"graph(): the {who} returned a {type(result).__name__}, but a program returns its unknot.Trace; "
            "if yours returns more, wrap it: lambda *args: program(*args)[0]"
        )
    result.call = call
    return result


def _tagged(recorder: SiteRecorder, name: str, value: Any) -> Any:
    """Tag all tensors of an argument. Partial observations stay without: a label is not a parent."""
    if isinstance(value, Tensor):
        return recorder.input(value, name)
    if isinstance(value, dict):
        return {key: _tagged(recorder, str(key), part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_tagged(recorder, f"{name}{i}", part) for i, part in enumerate(value))
    return value


class _Reading:
    """Names for tags, now that the traces are complete."""

    def __init__(self, recorder: SiteRecorder, traces: dict[Model, Trace | None]) -> None:
        self.recorder = recorder
        self.traces = traces
        self.names: dict[Tag, list[str]] = {}
        for node in (node for model in MODELS for node in self._nodes(model)):
            self.names.setdefault(recorder.tag(node), []).append(node.name)
        self.inputs = {
            tag: self._input_names(tag) for tag, s in enumerate(recorder.seen) if isinstance(s, Input)
        }

    def _nodes(self, model: Model) -> list[Any]:
        trace = self.traces[model]
        return [] if trace is None else trace.nodes()

    def _input_names(self, tag: Tag) -> list[str]:
        """An input goes by the site that observes it, the decoder's first; else by its argument's name."""
        for model in MODELS:
            names = [node.name for node in self._nodes(model) if tag in self._site(node).observes]
            if names:
                return names
        source = self.recorder.seen[tag]
        assert isinstance(source, Input)
        return [source.name]

    def _site(self, node: Any) -> Site:
        return self.recorder.site(node)

    def _sources(self, tags: frozenset[Tag]) -> set[str]:
        """Names of the sources; a site that neither trace holds is only a step on the way from its parents."""
        found: set[str] = set()
        for tag in tags:
            source = self.recorder.seen[tag]
            if isinstance(source, Input):
                found.update(self.inputs[tag])
            else:
                found.update(self.names.get(tag) or self._sources(source.parents))
        return found

    def graph(self) -> Graph:
        edges = {
            Edge(source, node.name, model)
            for model in MODELS
            for node in self._nodes(model)
            # a mask that came with include() is known only now; one of keep_where() came after the draw
            for source in self._sources(self._site(node).parents | self.recorder.tags.of(node.drawn.active))
            if source != node.name
        }
        nodes = self._graph_nodes(edges)
        order = {name: position for position, name in enumerate(nodes)}
        key = lambda edge: (MODELS.index(edge.model), order[edge.target], order[edge.source])  # noqa: E731
        return Graph(list(nodes.values()), sorted(edges, key=key))

    def _graph_nodes(self, edges: set[Edge]) -> dict[str, GraphNode]:
        """All nodes by name: the decoder's order, then what only the encoder has."""
        found: dict[str, GraphNode] = {}
        for model in MODELS:
            for node in self._nodes(model):
                found.setdefault(node.name, GraphNode(node.name, kind(node), family(node), ()))
        used = {source for source, _, _ in edges}
        for name in (name for names in self.inputs.values() for name in names):
            if name in used or name in found:
                found.setdefault(name, GraphNode(name, "observed", "input", ()))
        return {name: node._replace(models=self._models(name, edges)) for name, node in found.items()}

    def _models(self, name: str, edges: set[Edge]) -> tuple[Model, ...]:
        ends = {(end, edge.model) for edge in edges for end in (edge.source, edge.target)}
        in_trace = {(node.name, model) for model in MODELS for node in self._nodes(model)}
        data = {(name, "recognition") for names in self.inputs.values() for name in names}
        present = ends | in_trace | (data if self.traces["recognition"] is not None else set())
        return tuple(model for model in MODELS if (name, model) in present)


def kind(node: Node) -> Kind:
    """How a node is drawn: open, half shaded, shaded, or as a log-term."""
    if isinstance(node, LogTerm):
        return "log-term"
    if isinstance(node.known, Tensor):
        return "partly observed"
    return "observed" if node.known else "latent"


def family(node: Node) -> str:
    """The distribution's name, or what else the node is."""
    return type(node.dist).__name__ if isinstance(node, Variable) else type(node).__name__
