"""The neck: brings all feature maps to one width and adds the coarse ones to the fine ones."""

import mindspore.nn as nn
from mindspore import ops


class TopDown(nn.Cell):
    """A small feature pyramid."""

    def __init__(self, channels, width=32):
        super().__init__()
        self.lateral = nn.CellList([nn.Conv2d(count, width, 1) for count in channels])
        self.smooth = nn.Conv2d(width, width, 3)

    def construct(self, features):
        maps = [lateral(feature) for lateral, feature in zip(self.lateral, features)]
        maps.reverse()
        merged = maps[0]
        result = [merged]
        for feature in maps[1:]:
            merged = feature + self.upsample(merged, feature)
            result.append(self.smooth(merged))
        return result

    def upsample(self, x, like):
        try:
            return ops.interpolate(x, size=like.shape[2:], mode="nearest")
        except RuntimeError:
            return ops.interpolate(x, size=like.shape[2:], mode="bilinear", align_corners=True)
