"""The head: class scores and boxes for every position of every feature map."""

import mindspore as ms
import mindspore.nn as nn
from mindspore import ops

DEBUG = True


class Head(nn.Cell):
    """One convolution for scores, one for boxes, shared by all maps."""

    def __init__(self, width, classes):
        super().__init__()
        self.scores = nn.Conv2d(width, classes, 1)
        self.boxes = nn.Conv2d(width, 4, 1)
        self.sizes = []

    def construct(self, features):
        scores, boxes = [], []
        for feature in features:
            self.sizes.append(feature.shape[2:])
            scores.append(self.flat(self.scores(feature)))
            boxes.append(self.flat(ops.exp(ops.clamp(self.boxes(feature), max=4.0))))
        scores, boxes = ops.cat(scores, 1), ops.cat(boxes, 1)
        if DEBUG:
            print("best score", scores.max(), flush=True)
        return scores, self.clip(boxes)

    def flat(self, x):
        batch, channels = x.shape[:2]
        return x.reshape(batch, channels, -1).transpose(0, 2, 1)

    def clip(self, boxes):
        """No box is larger than the image; the background box, the first one, is empty."""
        limited = boxes
        limited[:, 0] = 0.0
        if (count := boxes.shape[1]) > 4096:
            limited = limited[:, : min(count, 4096)]
        return ops.minimum(limited, ms.Tensor(1.0, ms.float32))
