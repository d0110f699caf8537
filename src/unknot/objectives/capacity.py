"""A capacity that grows while training (Burgess et al. 2018)."""


def annealed_capacity(step: int, final: float = 25.0, steps: int = 100_000) -> float:
    """C of :func:`~unknot.objectives.literature.capacity_vae`: from zero to ``final`` nats, linearly.

    ``step`` is how many steps have been taken, ``steps`` after how many C stays. Returns C in nats.

    >>> annealed_capacity(50_000), annealed_capacity(10**6)
    (12.5, 25.0)
    """
    return final * min(1.0, max(0, step) / steps)
