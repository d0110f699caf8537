"""The classifier, whole and by site: laws and the chain rule by loops over all values."""

import torch

from tests.objectives.test_semi_supervised import X, labels_of
from tests.references.discrete_model import item_labels, make_model
from unknot.objectives.parts.labels import classifier, label_weights


def test_parts_are_those_of_the_chain_rule_where_all_is_summed() -> None:
    """log q(y | x), then log q(v | x, y), from sums over every value of what an item has not observed."""
    model, labels = make_model("two labels"), labels_of("two labels")
    q, _ = model.run(X, labels, gradient="enumerate")
    sites = q.variables()
    terms = classifier(sites, label_weights(sites), {"y": 1.0}, torch.zeros(len(X))).terms()
    for index, x in enumerate(X.tolist()):
        observed = item_labels(labels, index)

        def log_q(given: dict[str, int], x: int = x) -> torch.Tensor:
            joint = [model.log_q(x, item, model.names) for item in model.completions(given)]
            return torch.stack(joint).logsumexp(0)

        first = log_q({n: k for n, k in observed.items() if n == "y"})
        torch.testing.assert_close(terms["classifier[y]"][index], first)
        torch.testing.assert_close(terms["classifier[v]"][index], log_q(observed) - first)


def test_one_weight_is_one_term() -> None:
    q, _ = make_model("z->y").run(X, labels_of("z->y"), samples=3)
    sites = q.variables()
    labels = label_weights(sites)
    assert labels is not None
    whole = classifier(sites, labels, 7.0, torch.zeros(len(X)))
    assert whole.weights == {"classifier": 7.0}
    torch.testing.assert_close(whole.terms()["classifier"], labels.mean_log())
    torch.testing.assert_close(whole.weighted(), 7.0 * labels.log_weight)
