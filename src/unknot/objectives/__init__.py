"""Objectives: functions of a recognition trace q and a generative trace p that return named terms."""

from unknot.core.dependence import site_parents
from unknot.objectives.catalogue import CATALOGUE
from unknot.objectives.decomposition import decompose
from unknot.objectives.diagnostics import information
from unknot.objectives.discriminator import Discriminator, discriminator_loss, factor_vae
from unknot.objectives.elbo import elbo
from unknot.objectives.encoder_objectives import information_maximization, sleep, supervised
from unknot.objectives.importance_weighted import importance_weighted
from unknot.objectives.literature import (
    anchor_vae,
    beta_tcvae,
    beta_vae,
    capacity_vae,
    dip_vae,
    hfvae,
    info_vae,
    information_dropout,
    vae,
)
from unknot.objectives.semi_supervised import semi_supervised
from unknot.objectives.supervision import supervision_rate, supervision_weight
from unknot.objectives.terms import Terms

__all__ = [
    "CATALOGUE",
    "Discriminator",
    "Terms",
    "anchor_vae",
    "beta_tcvae",
    "beta_vae",
    "capacity_vae",
    "decompose",
    "dip_vae",
    "discriminator_loss",
    "elbo",
    "factor_vae",
    "hfvae",
    "importance_weighted",
    "info_vae",
    "information",
    "information_dropout",
    "information_maximization",
    "semi_supervised",
    "site_parents",
    "sleep",
    "supervised",
    "supervision_rate",
    "supervision_weight",
    "vae",
]
