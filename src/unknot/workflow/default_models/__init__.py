"""Default models: named objects that say which data they suit, what the model is and how it is trained.

Each class is one default, in a module of its own. Its fields are the settings that a user may change, as
``model: {kind: images, style: 20}`` in a spec or ``StructuredVAE(model="images", style=20)``. :func:`choose` picks the
default of a data set, and a run keeps its name. The evidence for the choices is in docs/defaults.md.
"""

from unknot.workflow.default_models.base import DefaultModel, is_table, tuned
from unknot.workflow.default_models.cells import Cells
from unknot.workflow.default_models.choose import DEFAULT_MODELS, choose, default_model, make_default
from unknot.workflow.default_models.class_style import ALPHA, ClassStyle
from unknot.workflow.default_models.images import Images
from unknot.workflow.default_models.series import Series
from unknot.workflow.default_models.tables import TableEnsemble
from unknot.workflow.default_models.topics import Topics
from unknot.workflow.default_models.wide import Wide

__all__ = [
    "ALPHA",
    "DEFAULT_MODELS",
    "Cells",
    "ClassStyle",
    "DefaultModel",
    "Images",
    "Series",
    "TableEnsemble",
    "Topics",
    "Wide",
    "choose",
    "default_model",
    "is_table",
    "make_default",
    "tuned",
]
