"""The calls that measure_calls.py tries inside `construct`, beside the Tensor methods that it finds by
itself.

A row is `name: body`; the body sees `self` (a Cell with a Dense `fc`, a Parameter `p` and a list `items`),
`x` (a float Tensor of shape (2, 3)) and the modules imported below.
"""

from __future__ import annotations

import re

HEAD = """
import copy
import functools
import json
import logging
import math
import operator
import os
import random
import time
import mindspore.numpy as mnp
from mindspore import context, dtype
"""
INIT = """
self.fc = nn.Dense(3, 3, weight_init=0.5, bias_init='zeros')
self.p = Parameter(Tensor(np.ones((3,), np.float32)), name="p")
self.items = [1, 2]
self.n = 3
"""
METHODS = """
def helper(self, v):
    return v * 2
"""
# Values by parameter name for Tensor methods; what is not here takes the lists below.
BY_NAME = {
    "other": "x",
    "dim": "0",
    "axis": "0",
    "axes": "(1, 0)",
    "dtype": "ms.float32",
    "shape": "(3, 2)",
    "size": "(3, 2)",
    "mask": "x > 2",
    "value": "1.0",
    "index": "I",
    "indices": "I",
    "src": "x",
    "dims": "1",
    "repeats": "2",
    "input": "x",
    "min": "0.0",
    "max": "2.0",
    "xmin": "0.0",
    "xmax": "2.0",
    "mat2": "x.T",
    "tensor1": "x",
    "tensor2": "x",
    "exponent": "2.0",
    "weight": "0.5",
    "end": "x",
    "y": "x",
    "x2": "x",
    "source": "x",
    "diagonal": "0",
    "k": "1",
    "sections": "1",
    "chunks": "2",
    "split_size": "1",
    "split_size_or_sections": "1",
    "indices_or_sections": "1",
    "dim0": "0",
    "dim1": "1",
    "axis1": "0",
    "axis2": "1",
    "dst_type": "ms.float32",
    "fill_value": "1.0",
    "order": "'C'",
    "shifts": "1",
    "values": "x",
    "q": "0.5",
    "p": "2",
    "sorter": "None",
    "v": "2.0",
    "device": "'CPU'",
    "min_length": "0",
    "num_classes": "7",
    "element": "x",
    "test_elements": "x",
    "condition": "x > 2",
    "bins": "4",
}
# Whole bodies, where what is returned would itself be a fallback.
BY_BODY = {
    "tolist": "return x.tolist()[0][0]",
    "dtype": "return x.dtype == ms.float32",
    "set_dtype": "y = x.set_dtype(ms.float16)\nreturn y == ms.float16",
    "asnumpy": "return Tensor(x.asnumpy())",
    "numpy": "return Tensor(x.numpy())",
}
BY_METHOD = {
    "permute": "1, 0",
    "to": "ms.float16",
    "view": "3, 2",
    "reshape": "3, 2",
    "transpose": "1, 0",
    "type": "ms.float16",
    "repeat": "2, 2",
    "tile": "(2, 2)",
    "resize": "3, 2",
    "new_zeros": "(2,)",
    "new_ones": "(2,)",
    "expand": "2, 3",
    "swapaxes": "0, 1",
    "index_add_": "0, V0, x[0:1]",
    "masked_fill_": "x > 2, 1.0",
    "scatter_": "0, I, x",
    "scatter_add_": "0, I, x",
    "index_put_": "(V0, V0), V1",
    "new_full": "(2,), 1.0",
    "new_empty": "(2,)",
    "copy_": "x * 2",
    "set_dtype": "ms.float16",
    "fill_": "1.0",
    "broadcast_to": "(2, 3)",
    "astype": "ms.float16",
    "flatten": "",
    "unsqueeze": "0",
}
INPUTS = {
    "F": "(ms.Tensor(np.array([[1., 2., 3.], [4., 5., 6.]], np.float32)),)",
    "S": "(ms.Tensor(np.array([[4., 1., 0.], [1., 3., 1.], [0., 1., 2.]], np.float32)),)",
    "U": "(ms.Tensor(np.array([[.1, .2, .3], [.4, .5, .6]], np.float32)),)",
    "I": "(ms.Tensor(np.array([[1, 0, 1], [1, 1, 0]], np.int32)),)",
    "L": "(ms.Tensor(np.array([[1, 0, 1], [1, 1, 0]], np.int64)),)",
    "B": "(ms.Tensor(np.array([[True, False, True], [True, True, False]])),)",
    "V": "(ms.Tensor(np.array([1., 2., 3.], np.float32)),)",
    "O": "(ms.Tensor(np.array([1.5], np.float32)),)",
    "T": "(ms.Tensor(np.ones((1, 2, 3), np.float32)),)",
    "X": "(ms.Tensor(np.ones((1, 1, 4, 4), np.float32)),)",
}
INDEX = "Tensor(np.array([[0, 1, 0]], np.int64))"
ARGUMENTS = (
    "",
    "x",
    "0",
    "2",
    "1.0",
    "0, 1",
    "x, x",
    "(3, 2)",
    "3, 2",
    "ms.float32",
    "x > 2",
    "x > 2, 1.0",
    "x.T",
    "0, V0",
    "V0, 0",
    "V0",
    "0, I, x",
    "I, 0",
    "0, I",
    "0, I, 1.0",
    "x.T, x",
    "x, 1.0",
    "2, 0",
    "(0, 1)",
    "0.0, 2.0",
    "(2,)",
    "1, 0, 2",
    "x, x, x",
    "x, V1",
    "V1, x",
    "ms.Tensor(2)",
    "'sum'",
    "x[0], x[0]",
    "0, 0, 1",
)
# What may change the process for the calls after it: a child of its own.
ALONE = re.compile(
    r"set_context|set_device|Profiler|run_check|set_dump|export|SummaryRecord|auto_parallel|checkpoint"
    r"|seed|communication|cpu_affinity|recursion|Model|compile|synchronize|globals|^time|open\(|flops"
    r"|auto_mixed"
)
# Their results are random numbers: only kind, dtype and shape are compared.
_RANDOM = """Tensor.bernoulli Tensor.bernoulli_ Tensor.uniform Tensor.uniform_ Tensor.normal_ Tensor.random_
Tensor.multinomial Tensor.exponential_ Tensor.random_categorical Tensor.cauchy Tensor.log_normal time.time
random.random random.randint random.uniform random.choice numpy.random.rand numpy.random.randn
mindspore.numpy.rand mindspore.numpy.randn mindspore.ops.rand mindspore.ops.randn mindspore.ops.dropout
mindspore.ops.standard_normal mindspore.get_seed builtins.id time.perf_counter time.time_ns builtins.hash
mindspore.ops.uniform builtins.object numpy.random.randint numpy.random.normal mindspore.get_rng_state
os.getpid mindspore.initial_seed
Tensor.data_ptr Tensor.new_empty random.shuffle
numpy.empty"""
RANDOM = frozenset(_RANDOM.split())
CELL = {
    name: "self.%s\nreturn x" % call
    for name, call in (
        line.split(" ", 1)
        for line in """
set_train set_train()
set_train-False set_train(False)
set_grad set_grad()
cells cells()
cells_and_names cells_and_names()
name_cells name_cells()
get_parameters get_parameters()
trainable_params trainable_params()
untrainable_params untrainable_params()
parameters_and_names parameters_and_names()
parameters_dict parameters_dict()
parameters_broadcast_dict parameters_broadcast_dict()
get_sub_cell get_sub_cell("fc")
get_buffer get_buffer("b")
register_buffer register_buffer("b", Tensor([1.0]))
buffers buffers()
named_buffers named_buffers()
state_dict state_dict()
load_state_dict load_state_dict({})
insert_child_to_cell insert_child_to_cell("fc2", self.fc)
insert_param_to_cell insert_param_to_cell("q", self.p)
update_cell_prefix update_cell_prefix()
update_parameters_name update_parameters_name("pre")
init_parameters_data init_parameters_data()
check_names check_names()
to_float to_float(ms.float16)
to to(ms.float16)
apply apply(lambda c: None)
add_flags add_flags(flag=True)
add_flags_recursive add_flags_recursive(flag=True)
get_flags get_flags()
extend_repr extend_repr()
get_func_graph_proto get_func_graph_proto()
get_scope get_scope()
get_inputs get_inputs()
set_inputs set_inputs(x)
set_jit_config set_jit_config(ms.JitConfig(jit_level="O0"))
set_parallel_input_with_inputs set_parallel_input_with_inputs(x)
set_comm_fusion set_comm_fusion(1)
set_boost set_boost("less_bn")
set_data_parallel set_data_parallel()
set_broadcast_flag set_broadcast_flag()
set_auto_parallel set_auto_parallel()
set_mixed_precision_type set_mixed_precision_type(None)
set_acc set_acc(False)
recompute recompute()
shard shard(None)
offload offload()
cast_inputs cast_inputs((x,), ms.float16)
cast_param cast_param(self.p)
auto_cast_inputs auto_cast_inputs((x,))
register_forward_hook register_forward_hook(lambda c, i, o: None)
register_forward_pre_hook register_forward_pre_hook(lambda c, i: None)
register_backward_hook register_backward_hook(lambda c, i, o: None)
register_backward_pre_hook register_backward_pre_hook(lambda c, o: None)
compile compile(x)
compile_and_run compile_and_run(x)
compile_cache_clear compile_cache_clear()
flatten_weights flatten_weights()
generate_scope generate_scope()
remove_redundant_parameters remove_redundant_parameters()
infer_param_pipeline_stage infer_param_pipeline_stage()
exec_checkpoint_graph exec_checkpoint_graph()
zero_grad zero_grad()
parameters parameters()
""".strip().splitlines()
    )
}
CELL.update(
    {
        "training": "return self.training",
        "trainable_params (loop)": "for p in self.trainable_params():\n    x = x + p.sum()\nreturn x",
        "cells (loop)": "for c in self.cells():\n    x = c(x)\nreturn x",
        "param_prefix": "return self.param_prefix",
        "requires_grad": "return self.requires_grad",
        "construct": "return self.fc.construct(x)",
        "name_cells (result)": "return len(self.name_cells())",
        "parameters_dict (result)": "return len(self.parameters_dict())",
        "phase": "return self.phase",
        "flags": "self.get_flags()\nreturn x",
        "bprop_debug": "return self.bprop_debug",
    }
)
PARAMETER = {
    "set_data": "self.p.set_data(Tensor(np.zeros((3,), np.float32)))\nreturn x",
    "clone": "y = self.p.clone()\nreturn y",
    "init_data": "self.p.init_data()\nreturn x",
    "name": "return self.p.name",
    "requires_grad": "return self.p.requires_grad",
    "assign_value": "self.p.assign_value(Tensor(np.zeros((3,), np.float32)))\nreturn self.p.value()",
    "value": "return self.p.value()",
    "asnumpy": "return self.p.asnumpy()",
    "copy_": "self.p.copy_(x[0])\nreturn self.p + 0",
    "data": "return self.p.data",
    "set_dtype": "self.p.set_dtype(ms.float16)\nreturn x",
    "shape": "return self.p.shape",
    "set_name": "self.p.name = 'q'\nreturn x",
    "set_requires_grad": "self.p.requires_grad = False\nreturn x",
    "layerwise_parallel": "return self.p.layerwise_parallel",
    "copy": "return self.p.copy()",
    "assign": "self.p = x[0]\nreturn x",
    "assign-add": "self.p += x[0]\nreturn x",
    "item-assign": "self.p[0] = 5.0\nreturn x",
    "new": "q = Parameter(x, name='q')\nreturn q",
}
# `name | expression`, the expression after `ms.`.
MINDSPORE = dict(
    line.split(" | ")
    for line in """
set_seed | set_seed(1)
get_seed | get_seed()
set_context | set_context(mode=ms.GRAPH_MODE)
get_context | get_context('mode')
set_device | set_device('CPU')
set_recursion_limit | set_recursion_limit(999)
save_checkpoint | save_checkpoint(self, 'a.ckpt')
load_checkpoint | load_checkpoint('a.ckpt')
load_param_into_net | load_param_into_net(self, {})
export | export(self.fc, x, file_name='a', file_format='MINDIR')
dtype_to_nptype | dtype_to_nptype(ms.float32)
dtype_to_pytype | dtype_to_pytype(ms.float32)
pytype_to_dtype | pytype_to_dtype(float)
mutable | mutable((1, 2))
get_level | get_level()
Tensor | Tensor([1.0, 2.0])
Tensor(x) | Tensor(x)
Tensor(shape) | Tensor(x.shape)
tensor | tensor([1.0, 2.0])
tensor(x) | tensor(x)
Parameter | Parameter(x, name='q')
ParameterTuple | ParameterTuple((self.p,))
is_tensor | is_tensor(x)
JitConfig | JitConfig(jit_level='O0')
jit | jit(self.helper)(x)
grad | grad(self.helper)(x)
value_and_grad | value_and_grad(self.helper)(x)
vmap | vmap(self.helper)(x)
jvp | jvp(self.helper, x, x)
vjp | vjp(self.helper, x)[0]
jacfwd | jacfwd(self.helper)(x)
get_auto_parallel_context | get_auto_parallel_context('device_num')
reset_auto_parallel_context | reset_auto_parallel_context()
set_auto_parallel_context | set_auto_parallel_context(device_num=1)
from_numpy | from_numpy(np.ones(2))
CSRTensor | CSRTensor(Tensor([0, 1, 2, 3]), Tensor([0, 1, 0]), Tensor([1., 2., 3.]), (3, 4)).values
COOTensor | COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1., 2.]), (3, 4)).values
Model | Model(self.fc)
run_check | run_check()
get_grad | get_grad(1, 2)
no_grad | _no_grad()
Generator | Generator()
get_rng_state | get_rng_state()
manual_seed | manual_seed(1)
initial_seed | initial_seed()
Symbol | Symbol(max=10)
set_dump | set_dump(self.fc, True)
Profiler | Profiler()
SummaryRecord | SummaryRecord('.')
QuantDtype | QuantDtype.INT8
issubclass_ | issubclass_(ms.float32, ms.number)
recompute | recompute(self.fc, x)
flops_collection | flops_collection(self.fc, x)
get_current_device | get_current_device()
set_cpu_affinity | set_cpu_affinity(False)
ops.rand | ops.rand(2, 3)
ops.randn | ops.randn(2, 3)
ops.standard_normal | ops.standard_normal((2, 3))
ops.dropout | ops.dropout(x, 0.5)
ops.assign | ops.assign(self.p, x[0])
ops.stop_gradient | ops.stop_gradient(x)
ops.depend | ops.depend(x, x)
ops.constexpr | ops.constexpr(self.helper)
ops.zeros | ops.zeros((2, 3))
ops.Zeros | ops.Zeros()((2, 3), ms.float32)
ops.nonzero | ops.nonzero(x)
ops.unique | ops.unique(x)
ops.masked_select | ops.masked_select(x, x > 2)
ops.is_tensor | ops.is_tensor(x)
ops.shape | ops.shape(x)
ops.cat | ops.cat((x, x))
ops.stack | ops.stack([x, x])
ops.einsum | ops.einsum('ij->ji', x)
ops.arange | ops.arange(0, 4)
ops.full | ops.full((2, 3), 1.0)
ops.meshgrid | ops.meshgrid(x[0], x[0])
ops.ReLU | ops.ReLU()(x)
ops.Cast | ops.Cast()(x, ms.float16)
ops.tensor_dump | ops.tensordump('a', x)
ops.dyn_shape | ops.dyn_shape(x)
ops.sort | ops.sort(x)
ops.size | ops.size(x)
ops.rank | ops.rank(x)
ops.uniform | ops.uniform((2, 3), Tensor(0.0), Tensor(1.0))
nn.ReLU | nn.ReLU()(x)
nn.Dense | nn.Dense(3, 2)(x)
nn.Dropout | nn.Dropout(p=0.5)(x)
nn.CellList | nn.CellList([self.fc])
nn.SGD | nn.SGD(self.trainable_params())
numpy.ones | numpy.ones((2, 3))
numpy.array | numpy.array([1.0, 2.0])
numpy.arange | numpy.arange(4)
numpy.where | numpy.where(x > 2, x, x)
numpy.rand | numpy.rand(2, 3)
numpy.randn | numpy.randn(2, 3)
numpy.unique | numpy.unique(x)
numpy.pad | numpy.pad(x, 1)
amp.auto_mixed_precision | amp.auto_mixed_precision(self.fc)(x)
amp.all_finite | amp.all_finite((x,))
hal.synchronize | hal.synchronize()
runtime.synchronize | runtime.synchronize()
runtime.empty_cache | runtime.empty_cache()
hal.memory_allocated | hal.memory_allocated()
runtime.memory_allocated | runtime.memory_allocated()
communication.get_rank | communication.get_rank()
log.info | log.info('a')
log.warning | log.warning('a')
log.error | log.error('a')
log.debug | log.debug('a')
common.initializer.initializer | common.initializer.initializer('zeros', (2, 3))
common.initializer.Normal | common.initializer.Normal()
common.set_seed | common.set_seed(1)
""".strip().splitlines()
)
# Plain Python and NumPy, each used for its result: the body returns it.
PYTHON = {
    "builtins": """abs(-1)|all((True, False))|any((True, False))|bin(3)|bool(1)|bytes(2)|bytearray(2)|
callable(self.fc)|
chr(65)|complex(1, 2).real|dict(a=1)['a']|
dir='n' in dir(self)|divmod(7, 3)|enumerate=tuple(enumerate((1, 2)))|
eval('1')|filter=tuple(filter(lambda v: v > 1, (1, 2)))|float(2)|format(1, 'd')|
frozenset=len(frozenset((1,)))|getattr(self, 'n')|globals=len(globals()) > 0|hasattr(self, 'n')|hash(1)|
hex(3)|id(x)|int(2.0)|isinstance(x, Tensor)|issubclass(int, int)|iter=tuple(iter((1, 2)))|len((1, 2))|
list((1, 2))[0]|locals=len(locals())|map=tuple(map(lambda v: v, (1, 2)))|max(1, 2)|min(1, 2)|
next(iter((1, 2)))|object()|oct(3)|open('/dev/null')|ord('a')|pow(2, 3)|range=tuple(range(3))|repr(1)|
reversed=tuple(reversed((1, 2)))|round(1.6)|set=len(set((1, 2)))|setattr(self, 'n', 4)|
slice=x[slice(0, 1)]|sorted((2, 1))[0]|str(1)|sum((1, 2))|super().extend_repr()|tuple([1, 2])|
type(1) == int|vars=len(vars(self)) > 0|zip=tuple(zip((1, 2), (3, 4)))""",
    "builtins-of-tensor": """abs(x)|all(x > 0)|any(x > 0)|bool(x.sum())|float(x.sum())|int(x.sum())|len(x)|
list(x)[0]|max(x[0])|
min(x[0])|pow(x, 2)|repr(x)|round(x)|sorted(x[0])[0]|str(x)|sum(x)|tuple(x)|tuple(zip(x, x))|
tuple(enumerate(x))|tuple(reversed(x))|tuple(iter(x))|tuple(range(int(x[0][0])))|isinstance(x, float)|
divmod(x, 2)|format(x)|hash(x)|type(x) == Tensor|len(set(x[0]))|tuple(map(self.helper, x))""",
    "math": "ceil(1.5)|sqrt(4.0)|sqrt of tensor=sqrt(x[0][0])|floor(1.5)|prod((2, 3))|log(2.0)|isnan(1.0)|pi",
    "numpy": """ones((2, 3))|zeros((2,))|array([1.0, 2.0])|arange(3)|prod((2, 3))|sqrt(4.0)|mean((1.0, 2.0))|
float32(1.0)|pi|random.rand(2)|random.randn(2)|random.randint(3)|random.normal()|random.seed(1)|
where(True, 1, 2)|full((2,), 1.0)|empty((2,))|asarray(x)|expand_dims(x, 0)|sum((1, 2))|inf|newaxis|
floor(1.5)|log(2.0)|linspace(0, 1, 3)|int64(1)|concatenate(([1], [2]))|stack(([1], [2]))""",
    "time": "time()|perf_counter()|sleep(0)|time_ns()",
    "random": "random()|randint(1, 2)|uniform(0, 1)|choice((1, 2))|seed(1)",
    "os": "getenv('HOME')|environ.get('HOME')|getpid()|path.exists('/')|path.join('a', 'b')",
    "logging": "info('a')|warning('a')|getLogger('a')",
    "copy": "copy(x)|deepcopy(x)|deepcopy of tuple=deepcopy((1, 2))|copy of list=copy([1, 2])[0]",
    "functools": "reduce(lambda a, b: a + b, (1, 2))|partial(self.helper)(x)",
    "json": "dumps((1, 2))",
    "operator": "mul(2, 3)|add(x, 1)|itemgetter(0)((1, 2))",
    "list": """[3, 1, 2].copy()[0]|[3, 1].count(1)|[3, 1].index(1)|sum([3, 1] + [2])|sum([3, 1] * 2)|
[3, 1][::-1][0]|
3 in [3, 1]""",
    "str": """'a b'.split()[0]|'a'.join(('b', 'c'))|'a'.upper()|'a{}'.format(1)|'a'.startswith('a')|
'ab'.replace('a', 'b')|'a' + 'b'|'a' * 2|'%d' % 1|'a' in 'ab'|'ab'[0]|len('ab')|' a'.strip()|f'{1:.2f}'|
'ab'.find('b')""",
    "dict": """{'a': 1}.get('a')|tuple({'a': 1}.items())|tuple({'a': 1}.keys())|tuple({'a': 1}.values())|
len({'a': 1}.copy())|'a' in {'a': 1}|len({'a': 1})|{'a': 1} == {'a': 1}""",
    "tuple": "(1, 2).index(2)|(1, 2).count(2)|(1, 2) + (3,)|(1, 2)[0]|(1, 2) == (1, 2)",
}
# What is called for what it does.
STATEMENTS = {
    "builtins.print": "print(x)",
    "builtins.delattr": "delattr(self, 'n')",
    "mindspore.ops.Print": "ops.Print()(x)",
    "mindspore.ops.print_": "ops.print_(x)",
    "random.shuffle": "random.shuffle(self.items)",
    "self.items.append(1)": "self.items.append(1)",
    "self.items.append(x)": "self.items.append(x)",
}
# Methods of local containers that change them: called as a bare statement and for their value. The body
# returns numbers computed from the container, since a list or dict that leaves a graph is itself a fallback.
CONTAINERS = {
    "list": (
        "[3, 1, 2]",
        """append(4)|insert(0, 4)|clear()|reverse()|extend([4])|sort()|remove(1)|pop()|pop(0)|
__setitem__(0, 9)|sort(reverse=True)|append(x)""",
        "len(c) * 100 + (c[0] * 10 + c[-1] if len(c) > 0 else 0)",
    ),
    "dict": (
        "{'a': 1, 'b': 2}",
        "update({'c': 3})|setdefault('c', 3)|pop('a')|popitem()|clear()|__setitem__('c', 3)",
        "len(c) * 100 + sum(c.values())",
    ),
}
