"""Weak labels as evidence: p(y) p(x | y) times a potential ψ(y) for what is known about the class of each item.

* coarse: the class is in a group. ψ is one for its classes and zero for the others (``partial(allowed=...)``).
* noisy: an annotator who errs has reported a class. ψ is the column of that report in a confusion matrix, which is
  learned (``partial(reports, confusion=...)``).
* soft: how well each class fits the item (``partial(probabilities=...)``).

Items have any of them, or none. Several of them are independent given the class, so their potentials are multiplied.
The class is enumerated, so the bound is log p(x, evidence) itself, and ``infer_discrete`` returns the posterior of the
class given the data and all weak labels of an item.
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

    def evidence(self, coarse: Tensor, report: Tensor, soft: Tensor) -> unknot.Partial:
        """Labels ``(B,)`` are -1 where they are missing; soft labels ``(B, K)`` are then ones."""
        in_group = (coarse[:, None] == GROUPS) | (coarse[:, None] < 0)
        reported = torch.where(report[:, None] >= 0, self.confusion.softmax(-1).T[report], 1.0)
        return unknot.partial(probabilities=in_group * reported * soft)

    def encode(self, x: Tensor, evidence: unknot.Partial) -> unknot.Trace:
        q = unknot.Trace()
        q.categorical(logits=torch.zeros(len(x), CLASSES), value=evidence, gradient="enumerate", name="y")
        return q

    def decode(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = p.categorical(logits=torch.zeros(CLASSES), value=q["y"], name="y")  # (K, 1, B)
        p.normal(self.loc[y], 0.5, value=x, name="x")
        return p

    def traces(self, x: Tensor, *labels: Tensor) -> tuple[unknot.Trace, unknot.Trace]:
        q = unknot.trace(self.encode, x, self.evidence(*labels))
        return q, unknot.trace(self.decode, x, q)


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
        unknot.objectives.importance_weighted(*model.traces(x, *labels), alpha=0.0).loss.backward()
        optimizer.step()
    missing = torch.full_like(y, -1)
    mode = unknot.infer_discrete(*model.traces(x, missing, missing, torch.ones(300, CLASSES)), "mode")
    return (mode["y"] == y).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy after training on weak labels: {main():.1%}")
