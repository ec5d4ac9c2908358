"""Runs the detector on a random image: `python run.py` line by line, `python run.py --graph` compiled."""

import argparse

import mindspore as ms
import numpy as np

from signs import SignDetector


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", action="store_true", help="compile the model as a graph")
    arguments = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if arguments.graph else ms.PYNATIVE_MODE)
    ms.set_seed(1)
    model = SignDetector()
    images = ms.Tensor(np.random.default_rng(1).random((1, 3, 64, 64)), ms.float32)
    scores, boxes = model(images)
    print("scores", scores.shape, "boxes", boxes.shape)


if __name__ == "__main__":
    main()
