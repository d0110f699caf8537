"""A topic model over 50,000 words and 1,000,000 documents: memory, seconds, and the bias of the sampled normalizer.

Documents are drawn: some thirty words each, half of them by Zipf's law from all words, half from the five hundred of
the document's topic. NVDM with 50 topics, batches of 200; encoder and generator have sparse gradients. A pass over
all documents is reckoned from the steps measured. Bias: the normalizer's estimate less the exact one, log sum exp of
all logits, in nats a word, on batches of the trained model, beside what a step costs.

    python -m benchmarks large_vocabulary
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from typing import Any

import numpy as np
import torch
from scipy import sparse

from benchmarks.row import row
from experiments.topics.topic_model import TopicModel
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models.sampled_words import WordSample
from unknot.objectives import elbo
from unknot.train.config import TrainConfig
from unknot.train.lazy_adam import LazyAdam
from unknot.train.loop import fit

WORDS, DOCUMENTS, LENGTH, TOPICS = 50_000, 1_000_000, 30, 100
BATCH, STEPS, TIMED, DRAWS = 200, 200, 5, 10
SAMPLED = (100, 500, 2000)
CHUNK = 50_000  # documents drawn at a time


def run() -> list[dict[str, Any]]:
    """In a process of its own, so that its peak of memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured)


def measured() -> list[dict[str, Any]]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = drawn_documents(DOCUMENTS)
    model = TopicModel(WORDS, {"topics": 50}, "linear", hidden=(100,), dropout=0.0, sampled=500)
    settings = {"objective": "elbo", "batch_size": BATCH, "learning_rate": 2e-3, "progress": False}
    config = TrainConfig.from_dict({**settings, "steps": STEPS})
    start = time.process_time()
    fit(model, data, config)
    spent = (time.process_time() - start) / STEPS
    assert isinstance(data.x, SparseCounts)
    rows = [
        row("documents in memory", data.x.nbytes / 2**30, "GiB"),
        row("peak memory of data and training", _peak(), "GiB", 2.0),
        row(f"a pass over a million documents, from {STEPS} steps", spent * DOCUMENTS / BATCH, "CPU s"),
    ]
    for count in SAMPLED:
        bias, error = bias_of(model, data, count)
        rows.append(row(f"{count} words drawn: bias a word", bias, "nats"))
        rows.append(row(f"{count} words drawn: its standard error", error, "nats"))
        rows.append(row(f"{count} words drawn: a step", 1000 * _step_seconds(model, data, count), "CPU ms"))
    return [*rows, row("all words: a step", 1000 * _step_seconds(model, data, 0), "CPU ms")]


def drawn_documents(count: int) -> Dataset:
    """So many documents, as sparse counts."""
    rng = np.random.default_rng(0)
    common = np.cumsum(1 / np.arange(1, WORDS + 1))
    own = np.cumsum(1 / np.arange(1, 501))
    subsets = rng.integers(0, WORDS, (TOPICS, 500))
    parts = []
    for start in range(0, count, CHUNK):
        lengths = rng.poisson(LENGTH, min(CHUNK, count - start))
        documents = np.repeat(np.arange(len(lengths)), lengths)
        topics = rng.integers(0, TOPICS, len(lengths))[documents]
        words = np.searchsorted(common, rng.random(len(documents)) * common[-1])
        theirs = subsets[topics, np.searchsorted(own, rng.random(len(documents)) * own[-1])]
        words = np.where(rng.random(len(documents)) < 0.5, words, theirs)
        ones = np.ones(len(documents), np.int32)
        parts.append(
            SparseCounts.from_scipy(sparse.csr_matrix((ones, (documents, words)), (len(lengths), WORDS)))
        )
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), *[part.offsets.diff() for part in parts]]).cumsum(
        0
    )
    words_of, counts = torch.cat([part.words for part in parts]), torch.cat([part.counts for part in parts])
    return Dataset("drawn", SparseCounts(offsets, words_of, counts, WORDS), torch.arange(count), {}, {})


@torch.no_grad()
def bias_of(model: TopicModel, data: Dataset, count: int) -> tuple[float, float]:
    """Mean over batches of the estimated less the exact normalizer, and the standard error of that mean."""
    errors = []
    for draw in range(DRAWS):
        x = data.batch(range(draw * BATCH, (draw + 1) * BATCH)).x
        z = model.encode(x)["topics"].value
        sample = WordSample.draw(x, count)
        estimate = (model.decoder.at(z, sample.columns) + sample.log_weights).logsumexp(-1)
        errors.append(float((estimate - model.decoder.logits(z).logsumexp(-1)).mean()))
    return float(np.mean(errors)), float(np.std(errors, ddof=1) / DRAWS**0.5)


def _step_seconds(model: TopicModel, data: Dataset, sampled: int) -> float:
    """CPU seconds of a training step, with so many words drawn; 0: with all words, and a dense gradient of them."""
    model.decoder.sampled = sampled
    optimizer = LazyAdam(model.train().parameters(), lr=1e-6, fused=True)
    for step in range(TIMED + 1):
        if step == 1:  # the first one makes the optimizer's state
            start = time.process_time()
        x = data.batch(range(step * BATCH, (step + 1) * BATCH)).x
        q = model.encode(x)
        optimizer.zero_grad()
        elbo(q, model.decode(x, q)).loss.backward()
        optimizer.step()
    return (time.process_time() - start) / TIMED


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
