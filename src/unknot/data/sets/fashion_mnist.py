"""Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 70000 pictures of clothes in the format of MNIST."""

from __future__ import annotations

from unknot.data.dataset import Dataset
from unknot.data.files.catalogue import Entry, Files
from unknot.data.sets.idx import build_idx, compressed_form

CLASSES = (
    "T-shirt",
    "trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)

ENTRY = Entry(
    name="fashion-mnist",
    title="Fashion-MNIST",
    what="pieces of clothing",
    items="60000 + 10000",
    shape="1x28x28",
    factors="garment (10)",
    licence="MIT",
    folder="fashion-mnist",
    forms=(
        compressed_form(
            sha256=(
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            ),
            sizes=(26421880, 29515, 4422102, 5148),
            mirrors=(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
            ),
        ),
    ),
)


def build(files: Files) -> Dataset:
    """Factor ``garment``; splits ``train`` (60000) and ``test`` (10000)."""
    return build_idx(files, "garment", CLASSES)
