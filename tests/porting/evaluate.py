"""Evaluates the expressions of facts.json with one framework and prints the results as one line of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict

import numpy as np


def mindspore_names() -> Dict[str, Any]:
    import mindspore as ms
    import mindspore.dataset as ds
    from mindspore import Tensor, nn, ops

    class Forward(nn.Cell):
        def forward(self, x: Any) -> Any:
            return x

    class Misspelt(nn.Cell):
        def contruct(self, x: Any) -> Any:
            return x

    class Source:
        def __len__(self) -> int:
            return 5

        def __getitem__(self, index: int) -> Any:
            return [0.5, 1.0], index

    def moved(layer: Any) -> Any:
        layer.set_train()
        layer(Tensor(np.full((2, 1, 4, 4), 10, np.float32)))
        return layer.moving_mean.asnumpy()[0]

    def zeroed(layer: Any) -> Any:
        layer.set_train()
        return (layer(Tensor(np.ones((100, 100), np.float32))).asnumpy() == 0).mean()

    return {
        "ms": ms,
        "nn": nn,
        "np": np,
        "ops": ops,
        "Tensor": Tensor,
        "Forward": Forward,
        "Misspelt": Misspelt,
        "moved": moved,
        "zeroed": zeroed,
        "loss": lambda x: (x * x).sum(),
        "both": lambda x: (x.sum(), x * 2),
        "dataset": lambda: ds.GeneratorDataset(Source(), ["a", "b"], shuffle=False),
        "image": Tensor(np.ones((1, 3, 8, 8), np.float32)),
        "matrix": Tensor(np.arange(6).reshape(2, 3).astype(np.float32)),
        "one": Tensor(np.array(1.0, np.float32)),
        "pair": Tensor(np.ones(2, np.float32)),
        "triple": Tensor(np.ones(3, np.float32)),
        "labels": Tensor(np.array([0, 1], np.int32)),
    }


def torch_names() -> Dict[str, Any]:
    import torch

    def moved(layer: Any) -> Any:
        layer(torch.full((2, 1, 4, 4), 10.0))
        return layer.running_mean[0]

    def zeroed(layer: Any) -> Any:
        return (layer(torch.ones(100, 100)) == 0).float().mean()

    return {
        "torch": torch,
        "nn": torch.nn,
        "moved": moved,
        "zeroed": zeroed,
        "image": torch.ones(1, 3, 8, 8),
        "matrix": torch.arange(6.0).reshape(2, 3),
        "one": torch.tensor(1.0),
        "pair": torch.ones(2),
        "triple": torch.ones(3),
        "labels": torch.tensor([0, 1]),
    }


def shown(value: Any) -> str:
    """Numbers of any framework as a Python number's text, everything else as Python shows it."""
    value = value.asnumpy() if hasattr(value, "asnumpy") else value
    count = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
    return repr(round(float(value.item()), 6)) if count == 1 else repr(value)


def main(side: str) -> None:
    facts = json.loads(Path(__file__).with_name("facts.json").read_text("utf-8"))["cases"]
    names = mindspore_names() if side == "mindspore" else torch_names()
    found = []
    for fact in facts:
        row = {"is": "", "raises": ""}
        if side in fact:
            try:
                row["is"] = shown(eval(fact[side], names))
            except Exception as error:
                row["raises"] = type(error).__name__
                row["is"] = str(error)[:200]
        found.append(row)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
