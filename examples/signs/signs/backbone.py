"""The backbone: a stem and three stages, each at half the resolution of the one before."""

import mindspore.nn as nn

from signs.layers import ConvBlock, Residual


class Backbone(nn.Cell):
    """Gives the feature maps of all stages, the finest first."""

    def __init__(self, width=16):
        super().__init__()
        self.stem = ConvBlock(3, width, stride=2)
        self.stage01 = nn.SequentialCell(ConvBlock(width, width * 2, stride=2), Residual(width * 2))
        self.stage02 = nn.SequentialCell(ConvBlock(width * 2, width * 4, stride=2), Residual(width * 4))
        self.stage03 = nn.SequentialCell(ConvBlock(width * 4, width * 8, stride=2), Residual(width * 8))
        self.channels = (width * 2, width * 4, width * 8)

    def construct(self, x):
        x = self.stem(x)
        features = []
        for k in range(1, 4):
            x = getattr(self, f"stage{k:02d}")(x)
            features.append(x)
        return features
