"""The package: every score by name, and an import that costs next to nothing."""

import subprocess
import sys

from unknot import metrics


def test_every_name_is_there() -> None:
    wanted = (
        "factor_vae beta_vae dci dci_es mig mig_sup jemmig dcimig class_gap information_about sap modularity "
        "explicitness irs infomec med udr model_centrality class_accuracy nmi ari table"
    )
    assert set(wanted.split()) <= set(metrics.__all__)
    assert all(callable(getattr(metrics, name)) for name in metrics.__all__)


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ["sklearn", "scipy", "matplotlib", "unknot.models"]
    program = f"import sys, unknot.metrics; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
