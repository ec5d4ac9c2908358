import mindspore as ms


class Cell:
    def __init__(self):
        self.__dict__.update(_cells={}, _params={}, training=False)

    def __call__(self, *args, **kwargs):
        if ms.get_context("mode") == ms.GRAPH_MODE and "refused" in (self.construct.__doc__ or ""):
            raise RuntimeError("Unsupported statement 'Try'.")
        return self.construct(*args, **kwargs)

    def name_cells(self):
        return {}

    def cells_and_names(self):
        return [("", self)]

    def parameters_and_names(self):
        return []

    def trainable_params(self):
        return []

    def set_train(self, mode=True):
        self.training = mode
