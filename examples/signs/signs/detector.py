"""The whole detector."""

import mindspore as ms
import mindspore.nn as nn

from signs.backbone import Backbone
from signs.head import Head
from signs.neck import TopDown

CALLS = 0


class SignDetector(nn.Cell):
    """From images (N, 3, H, W) to class scores (N, P, classes) and boxes (N, P, 4)."""

    def __init__(self, classes=12, width=16):
        super().__init__()
        self.backbone = Backbone(width)
        self.neck = TopDown(self.backbone.channels)
        self.head = Head(32, classes)

    def construct(self, images):
        global CALLS
        CALLS += 1
        if images.shape[2] % 16 or images.shape[3] % 16:
            raise ValueError("height and width must be multiples of 16")
        if images.dtype == ms.uint8:
            images = images.astype(ms.float32) / 255
        return self.head(self.neck(self.backbone(images)))
