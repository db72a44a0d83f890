"""Numbers that programs take for tensors of PyTorch with one element."""

from __future__ import annotations


class Number(float):
    """A number with the methods of a tensor that are called on one."""

    def item(self) -> float:
        return float(self)

    def cpu(self) -> Number:
        return self

    detach = cpu

    def numpy(self) -> float:
        return float(self)

    def tolist(self) -> float:
        return float(self)


def metrics(train_loss: float | None, valid_loss: float | None) -> dict[str, float]:
    """The losses of a training by neuralforecast's names, as far as they are known."""
    found = {"train_loss": train_loss, "ptl/val_loss": valid_loss, "valid_loss": valid_loss}
    return {name: Number(loss) for name, loss in found.items() if loss is not None}
