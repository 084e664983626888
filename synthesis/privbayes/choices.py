"""What the variants of PrivBayes do unless told otherwise, and which settings there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.parameters import check_number
from saddlesynth.synthesis.privbayes.joints import PostProcessing
from saddlesynth.synthesis.privbayes.structure import ScoreName

Variant = Literal["improved", "original"]


@dataclass(frozen=True)
class Preset:
    """What a variant does unless told otherwise."""

    split: tuple[float, float, float]
    post_processing: PostProcessing


PRESETS: dict[str, Preset] = {
    "improved": Preset((0.2, 0.1, 0.7), "consistent"),
    "original": Preset((0.02, 0.294, 0.686), "normalise"),  # beta = 0.3 of what the count leaves
}
CHOICES = {
    "variant": get_args(Variant),
    "score": (None, *get_args(ScoreName)),
    "post_processing": (None, *get_args(PostProcessing)),
}


def check_split(split: Any, network_given: bool, rows_public: bool) -> None:
    """Refuse shares that are not three, or leave a stage nothing that has to ask the data."""
    if not isinstance(split, Sequence) or len(split) != 3:
        raise InputError(f"split is {split!r}; it must be 3 shares: asked first, network, joints")
    for share in split:
        check_number("split", share)
    first, structure, last = split
    if min(first, structure) < 0 or last <= 0:
        raise InputError(f"split is {split!r}; shares must be at least 0, the last above")
    if structure == 0 and not network_given:
        raise InputError(
            "split leaves nothing for the network, and a network chosen from the data must be "
            "charged; raise the second share, or give network"
        )
    if first == 0 and not (network_given or rows_public):
        raise InputError(
            "split leaves nothing for the number of rows, which is private and says how large a "
            "joint may be; raise the first share, or give known_rows"
        )
