"""Weak labels as children of the class: p(y) p(x | y) p(coarse | y) p(report | y) times a soft label.

A weak label is data about the class, so it is a site of the decoder that depends on y:

* coarse: a group of classes. Its distribution given y puts all mass on the group of y.
* noisy: the report of an annotator who errs. Its distribution given y is a row of a confusion matrix, learned here.
* soft: a vector r of likelihoods, one for each class. It enters as the term log r[y] ("virtual evidence").

Items have any of them, or none: ``where`` leaves out what is missing. The class is enumerated, so the evidence is
exact, and ``infer_discrete`` returns the posterior of the class given the data and all weak labels of an item.
"""

import torch
from torch import Tensor, nn

import unknot

GROUPS = torch.tensor([0, 0, 1, 1])  # of the four classes
CLASSES = len(GROUPS)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loc = nn.Parameter(torch.randn(CLASSES, 2))
        self.confusion = nn.Parameter(2.0 * torch.eye(CLASSES))  # logits of the report, by class

    def encode(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.categorical(logits=torch.zeros(len(x), CLASSES), gradient="enumerate", name="y")
        return q

    def decode(
        self, x: Tensor, coarse: Tensor, report: Tensor, soft: Tensor, q: unknot.Trace
    ) -> unknot.Trace:
        """Labels ``(B,)`` are -1 where they are missing; soft labels ``(B, K)`` are then ones."""
        p = unknot.Trace()
        y = p.categorical(logits=torch.zeros(CLASSES), value=q["y"], name="y")  # (K, 1, B)
        p.normal(self.loc[y], 0.5, value=x, name="x")
        with p.where(coarse >= 0):
            in_group = nn.functional.one_hot(GROUPS, 2).to(x.dtype)
            p.categorical(probs=in_group[y], value=coarse.clamp_min(0), name="coarse")
        with p.where(report >= 0):
            p.categorical(logits=self.confusion[y], value=report.clamp_min(0), name="report")
        p.log_term(soft.log()[torch.arange(len(x)), y], name="soft")  # (K, 1, B)
        return p

    def traces(self, x: Tensor, *labels: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
        q = unknot.trace(self.encode, x)
        return q, unknot.trace(self.decode, x, *labels, q)


def weaken(y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A third of the items get a coarse label, a third a report (in 30 % a random class), a third a soft label."""
    third = torch.arange(len(y)) % 3
    coarse = torch.where(third == 0, GROUPS[y], -1)
    wrong = torch.where(torch.rand(len(y)) < 0.3, torch.randint(CLASSES, y.shape), y)
    soft = torch.where((third == 2)[:, None], 0.1 + 0.6 * nn.functional.one_hot(y, CLASSES), 1.0)
    return coarse, torch.where(third == 1, wrong, -1), soft


def main(steps: int = 300) -> float:
    """Train on weak labels alone; return the accuracy without labels."""
    torch.manual_seed(0)
    y = torch.randint(CLASSES, (300,))
    x = 1.5 * torch.tensor([[-1.0, 1], [1, 1], [-1, -1], [1, -1]])[y] + 0.5 * torch.randn(300, 2)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    labels = weaken(y)
    for _ in range(steps):
        optimizer.zero_grad()
        unknot.objectives.importance_weighted(*model.traces(x, *labels)).loss.backward()
        optimizer.step()
    missing = torch.full_like(y, -1)
    mode = unknot.infer_discrete(*model.traces(x, missing, missing, torch.ones(300, CLASSES)), "mode")
    return (mode["y"] == y).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy after training on weak labels: {main():.1%}")
