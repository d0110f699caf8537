"""Documents a second of topic models, on the same counts in one run: ours, scikit-learn's LDA, tomotopy's.

20 Newsgroups' 11,258 training documents over 1,995 words, 50 topics. Ours: ProdLDA as topics-prodlda trains it, a
plain VAE and the HFVAE of two groups. scikit-learn's online LDA by passes, tomotopy's by sweeps of Gibbs sampling,
each with one thread; a pass of one is not worth a pass of another, so the goal speaks of whole trainings.

    python -m benchmarks topic_models
"""

import importlib.util
import time
from typing import Any

import torch

from benchmarks.row import row
from experiments.topics.topic_baselines import gibbs_lda, online_lda
from experiments.topics.topic_corpus import corpus
from experiments.topics.topics import prodlda_cases, trained

EPOCHS, SWEEPS = 2, 20  # measured; whole trainings are reckoned from them
WHOLE_EPOCHS, WHOLE_SWEEPS = 40, 1000


def run() -> list[dict[str, Any]]:
    torch.set_num_threads(1)
    documents = corpus("20news")
    count = len(documents.train)
    seconds = {}
    for case in prodlda_cases("quick")[:2]:
        settings = {**case, "train": {**case["train"], "epochs": EPOCHS}}
        seconds[case["row"]] = trained(documents, settings, 0)[1] / EPOCHS
    start = time.process_time()
    online_lda(documents, 50, 0, 1)
    seconds["scikit-learn's LDA, online"] = time.process_time() - start
    if importlib.util.find_spec("tomotopy") is not None:  # of the extra bench
        seconds["tomotopy's LDA, Gibbs"] = gibbs_lda(documents, 50, 0, SWEEPS).seconds / SWEEPS
    rows = [row(f"{name}: documents a second", count / spent, "1/s") for name, spent in seconds.items()]
    vae, hfvae = (seconds[case["row"]] for case in prodlda_cases("quick")[:2])
    rows.append(row("HFVAE's term: seconds more an epoch", hfvae - vae, "s", 1.0))
    if "tomotopy's LDA, Gibbs" in seconds:
        whole = WHOLE_EPOCHS * vae / (WHOLE_SWEEPS * seconds["tomotopy's LDA, Gibbs"])
        rows.append(row("ProdLDA, 40 epochs, to tomotopy's 1,000 sweeps", whole, "x", 1.0))
    return rows
