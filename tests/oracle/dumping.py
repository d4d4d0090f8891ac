"""What a rank of a built job really holds: read from Megatron's own objects, never computed by us.

Which part of the whole tensor a local element is comes from Megatron's sharded state dict (its checkpoint format), factories applied by
its own code. The hash of every element is written through that into the parameters' memory. Into float32 masters it is brought by
Megatron's own reload_model_params, and from a master into the Adam moments of the same shard.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import hashing
import numpy as np
import torch
import torch.distributed
from boxes import Region, regions_of_interval
from building import Job
from configuration import Configuration

Json = dict[str, Any]

# Norms that Transformer Engine fuses into the linear layer behind them, and what they are called where they aren't.
FUSED_NORMS = {
    ".self_attention.linear_qkv.layer_norm_": ".input_layernorm.", ".mlp.linear_fc1.layer_norm_": ".pre_mlp_layernorm.",
    ".self_attention.linear_q_up_proj.layer_norm_": ".self_attention.q_layernorm.",
    ".self_attention.linear_kv_up_proj.layer_norm_": ".self_attention.kv_layernorm.", ".mixer.in_proj.layer_norm_": ".norm."}
BLOCKS = (".z", ".x", ".B", ".C", ".dt")  # of rows of a Mamba block's tensors


@dataclasses.dataclass
class Piece:
    """A box of the whole tensor and the view of the local tensor that holds it."""

    region: Region
    view: torch.Tensor


@dataclasses.dataclass
class Held:
    """A parameter (or persistent buffer) of this rank."""

    name: str
    live_name: str
    tensor: torch.Tensor
    shape: tuple[int, ...]
    pieces: list[Piece]


@dataclasses.dataclass
class Shard:
    """What an optimizer keeps of a parameter: elements [begin, end) of the local parameter, flattened."""

    begin: int
    end: int
    in_buffer: bool  # a part of the flat buffer, by its range; else the whole parameter
    stepped: torch.Tensor  # what the optimizer is given, and has the gradient
    states: dict[str, torch.Tensor]


def canonical(key: str, prepended: tuple[int, ...]) -> str:
    """The name of docs/design/0002 for a key of Megatron's sharded state dict: layers and experts by their global index.

    Megatron's checkpoints call a norm by the linear layer that Transformer Engine fuses it into; the names here are those of its
    local layers (the inverse of sharded_state_dict_keys_map in gpt_layer_specs.py).
    """
    if ".experts.experts." in key:
        if len(prepended) != 1:
            raise ValueError(f"{key}: expected the expert's index as the only prepended axis, not {prepended}")
        key = key.replace(".experts.experts.", f".experts.{prepended[0]}.")
    elif prepended:
        raise ValueError(f"{key}: unexpected prepended axes {prepended}")
    for fused, norm in FUSED_NORMS.items():
        key = key.replace(fused, norm)
    return key


def assemble(h: Held, parts: list[tuple[str, Piece, tuple[int, ...]]]) -> None:
    """Gives a parameter its pieces: `parts` are the names, pieces and whole shapes of its ShardedTensors.

    A Mamba block's matrices and convolution are ShardedTensors of their own for each block of rows (name.z, name.x, ...). The whole
    tensor is the blocks one below another, in the order in which they lie in memory.
    """
    parts.sort(key=lambda part: part[1].region.offset)
    blocks: dict[str, tuple[int, tuple[int, ...]]] = {}  # by name: the row at which it begins, and its shape
    for name, _, shape in parts:
        if name not in blocks:
            blocks[name] = (sum(known[0] for _, known in blocks.values()), shape)
        if blocks[name][1] != shape:
            raise ValueError(f"{h.live_name}: two shapes, {blocks[name][1]} and {shape}")
    names = {name.rpartition(".")[0] if name.endswith(BLOCKS) else name for name in blocks}
    if len(names) != 1 or (len(blocks) > 1 and len({shape[1:] for _, shape in blocks.values()}) > 1):
        raise ValueError(f"{h.live_name}: several names or shapes: {blocks}")
    (h.name,) = names
    h.shape = (sum(shape[0] for _, shape in blocks.values()), *next(iter(blocks.values()))[1][1:]) if len(blocks) > 1 else parts[0][2]
    for name, piece, _ in parts:
        origin = piece.region.origin
        if len(blocks) > 1:
            origin = (origin[0] + blocks[name][0], *origin[1:])
        h.pieces.append(Piece(dataclasses.replace(piece.region, origin=origin), piece.view))


def sharded_tensors(model: Any) -> Iterator[Any]:
    """The model's ShardedTensors, each with its layer in its key and its data a view of the memory that trains."""
    from megatron.core.dist_checkpointing.dict_utils import nested_values
    from megatron.core.dist_checkpointing.mapping import ShardedTensor, apply_factories
    state = model.sharded_state_dict(metadata={"non_homogeneous_layers": True, "singleton_local_shards": False})
    apply_factories(state)
    return (value for value in nested_values(state) if isinstance(value, ShardedTensor))


def held_by(chunk: int, model: Any) -> list[Held]:
    """All parameters and persistent buffers of a chunk, each with the pieces that Megatron says it consists of."""
    live: dict[str, torch.Tensor] = dict(model.named_parameters())
    persistent = model.state_dict()
    live |= {name: buffer for name, buffer in model.named_buffers() if name in persistent}
    held = {name: Held("", f"{chunk}/{name}", tensor, (), []) for name, tensor in live.items()}
    parts: dict[str, list[tuple[str, Piece, tuple[int, ...]]]] = {name: [] for name in held}
    for sharded in sharded_tensors(model):
        if sharded.key.endswith("_extra_state"):
            continue
        owner = next((name for name, h in held.items() if _offset_in(h.tensor, sharded.data) is not None), None)
        if owner is None:
            raise ValueError(f"{sharded.key}: its data is not in the memory of any parameter")
        axes = sharded.prepend_axis_num
        name, shape = canonical(sharded.key, tuple(sharded.global_offset[:axes])), tuple(sharded.global_shape[axes:])
        offset = _offset_in(held[owner].tensor, sharded.data) or 0
        region = Region(tuple(sharded.global_offset[axes:]), tuple(sharded.local_shape), offset, tuple(sharded.data.stride()))
        parts[owner].append((name, Piece(region, sharded.data), shape))
    for name, h in held.items():
        assemble(h, parts[name])
        if sum(piece.view.numel() for piece in h.pieces) != h.tensor.numel():
            raise ValueError(f"{h.live_name}: {h.tensor.numel()} elements, but its sharded tensors have "
                             f"{[tuple(piece.view.shape) for piece in h.pieces]}")
    return list(held.values())


def _offset_in(tensor: torch.Tensor, view: torch.Tensor) -> int | None:
    """The element of `tensor` at which `view` begins, if it lies in its memory."""
    offset = (view.data_ptr() - tensor.data_ptr()) // tensor.element_size()
    return offset if 0 <= offset < tensor.numel() else None


def shards_of(job: Job) -> dict[torch.Tensor, Shard]:
    """What this rank's optimizers keep, by the parameter it belongs to."""
    shards: dict[torch.Tensor, Shard] = {}
    for optimizer in job.optimizers:
        if optimizer.optimizer is None:  # a stub: this rank has no parameter of the kind
            continue
        optimizer.init_state_fn(optimizer.optimizer, optimizer.config)
        ranges = {p: r["param"] for buffer in getattr(optimizer, "gbuf_ranges", []) for dtype in buffer.values() for bucket in dtype
                  for p, r in bucket["param_map"].items()}
        for parameter, main in parameters_and_mains(optimizer):
            begin, end = (ranges[parameter].start, ranges[parameter].end) if ranges else (0, parameter.numel())
            states = {k: v for k, v in optimizer.optimizer.state[main].items() if k != "step"}
            # A precision-aware optimizer steps the parameter's own shard and keeps the masters itself.
            states["main"] = states.pop("master_param", main)
            if parameter in shards:
                raise ValueError("a parameter has two shards in one rank")
            shards[parameter] = Shard(begin, end, bool(ranges), main, states)
    return shards


def parameters_and_mains(optimizer: Any) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Each parameter, and what the optimizer updates in its stead: a float32 copy, a view of its shard, or the parameter itself."""
    if hasattr(optimizer, "gbuf_ranges"):
        aware = optimizer.config.use_precision_aware_optimizer
        groups = [(optimizer.model_float16_groups, optimizer.shard_float16_groups if aware else optimizer.shard_fp32_from_float16_groups),
                  (optimizer.model_fp32_groups, optimizer.shard_fp32_groups)]
    elif hasattr(optimizer, "float16_groups"):
        groups = [(optimizer.float16_groups, optimizer.fp32_from_float16_groups),
                  (optimizer.fp32_from_fp32_groups, optimizer.fp32_from_fp32_groups)]
    else:
        whole = [group["params"] for group in optimizer.param_groups]
        groups = [(whole, whole)]
    for parameters, mains in groups:
        for ps, ms in zip(parameters, mains, strict=True):
            yield from zip(ps, ms, strict=True)


def fill(held: list[Held], state: str, digits: int, digit: int) -> None:
    """Writes a digit of each element's hash into the parameters, through Megatron's mapping."""
    bits = hashing.BITS // digits
    for h in held:
        h.tensor.data.fill_(-1)
        for piece in h.pieces:
            indices = hashing.global_indices(h.shape, piece.region.origin, piece.region.shape)
            value = (hashing.values(h.name, state, indices) >> np.uint32(bits * digit)) & np.uint32((1 << bits) - 1)
            piece.view.data.copy_(torch.from_numpy(value.astype(np.float32)))
        if bool((h.tensor == -1).any()):
            raise ValueError(f"{h.live_name}: {h.name}: its sharded tensors leave elements out")


def read(tensor: torch.Tensor) -> hashing.Values:
    return tensor.detach().float().flatten().numpy().astype(np.uint32)


class Memory:
    """What is in the memory of each tensor after all fills, put together from its digits."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], hashing.Values] = {}

    def add(self, key: tuple[str, str], tensor: torch.Tensor, shift: int) -> None:
        part = read(tensor) << np.uint32(shift)
        self.values[key] = self.values[key] | part if key in self.values else part


def memory_of(c: Configuration, job: Job, held: list[Held], shards: dict[torch.Tensor, Shard]) -> Memory:
    """Fills everything and reads it back. For a moment the parameters hold its hashes, until Megatron has carried them to its shard."""
    memory, digits = Memory(), 3 if c.bf16 or c.moments != "float32" else 1
    for digit in range(digits):
        shift = digit * (hashing.BITS // digits)
        for state in [*c.states[:0:-1], "param"]:
            fill(held, state, digits, digit)
            if state == "param":
                break
            if state == "grad":
                carry_gradients(job, shards)
                continue
            for optimizer in job.optimizers:
                if optimizer.optimizer is not None:
                    optimizer.reload_model_params()
            if c.precision_aware:  # there is nothing to reload: what is stepped is the parameter's memory
                for shard in shards.values():
                    shard.states["main"].copy_(shard.stepped.detach())
            if state != "main":
                for shard in shards.values():
                    shard.states[state].copy_(shard.states["main"].detach())
        for h in held:
            memory.add((h.live_name, "param"), h.tensor, shift)
            if h.tensor in shards:
                for state in c.states[1:]:
                    memory.add((h.live_name, state), shards[h.tensor].states[state], shift)
    return memory


def carry_gradients(job: Job, shards: dict[torch.Tensor, Shard]) -> None:
    """What is in the parameters goes to their gradients in the buffer, and Megatron takes the optimizer's part from there."""
    for parameter in shards:
        parameter.main_grad.copy_(parameter.detach())  # type: ignore[attr-defined]
    for optimizer in job.optimizers:
        if hasattr(optimizer, "gbuf_ranges") and optimizer.optimizer is not None:
            optimizer._copy_model_grads_to_main_grads()
    for parameter, shard in shards.items():
        taken = parameter.main_grad  # type: ignore[attr-defined]
        if shard.in_buffer:
            taken = getattr(shard.stepped, "decoupled_grad", shard.stepped.grad)
        assert taken is not None
        shard.states["grad"] = taken.detach().clone()


def tensor_entries(c: Configuration, held: list[Held], shards: dict[torch.Tensor, Shard]) -> Iterator[Json]:
    """The entries of the listing (docs/design/0002): what the rank holds of each tensor."""
    def entry(h: Held, state: str, dtype: torch.dtype, local: tuple[int, ...], regions: list[Region]) -> Json:
        return {"name": h.name, "live_name": h.live_name, "state": state, "dtype": str(dtype).removeprefix("torch."),
                "shape": list(h.shape), "local_shape": list(local), "regions": [region.to_json() for region in regions]}
    for h in held:
        regions = [piece.region for piece in h.pieces]
        is_parameter = isinstance(h.tensor, torch.nn.Parameter)
        yield entry(h, "param" if is_parameter else "buffer", h.tensor.dtype, tuple(h.tensor.shape), regions)
        shard = shards.get(h.tensor)
        if shard is None:
            continue
        for state in c.states[1:]:
            tensor = shard.states[state]
            parts = regions if tensor.shape == h.tensor.shape and not c.distributed_optimizer else [
                part for region in regions for part in regions_of_interval(region, shard.begin, shard.end)]
            yield entry(h, state, tensor.dtype, tuple(tensor.shape), parts)


def buffer_entries(job: Job) -> Iterator[Json]:
    for chunk, ddp in enumerate(job.chunks):
        names = {p: f"{chunk}/{n}" for n, p in job.models[chunk].named_parameters()}
        for kind, buffers in (("dense", ddp.buffers), ("expert", ddp.expert_parallel_buffers)):
            for buffer in buffers:
                yield {
                    "name": f"{chunk}/{kind}/{str(buffer.param_dtype).removeprefix('torch.')}", "elements": buffer.numel,
                    "buckets": [{"begin": b.offset, "end": b.offset + b.grad_data.numel(), "unpadded": b.numel_unpadded}
                                for b in buffer.buckets],
                    "tensors": [{"live_name": names[p], "begin": i[0], "end": i[1]} for p, i in buffer.param_index_map.items()]}


def check_views(job: Job) -> None:
    """Each parameter and its gradient lie in their buffers where its index says: by address."""
    for ddp in job.chunks:
        for buffer in ddp.buffers + ddp.expert_parallel_buffers:
            for parameter, (begin, _, _) in buffer.param_index_map.items():
                views = [(buffer.grad_data, parameter.main_grad)]
                views += [(buffer.param_data, parameter.data)] if buffer.param_data is not None else []
                for whole, view in views:
                    if _offset_in(whole, view) != begin:
                        raise ValueError(f"a parameter lies at {_offset_in(whole, view)} of its buffer, not at {begin}")


def groups() -> dict[str, list[int]]:
    """The ranks of the process groups that this rank is in."""
    from megatron.core import parallel_state as ps
    found = {
        "tp": ps.get_tensor_model_parallel_group(), "pp": ps.get_pipeline_model_parallel_group(), "cp": ps.get_context_parallel_group(),
        "dp": ps.get_data_parallel_group(), "dp_cp": ps.get_data_parallel_group(with_context_parallel=True),
        "ep": ps.get_expert_model_parallel_group(), "etp": ps.get_expert_tensor_parallel_group(),
        "edp": ps.get_expert_data_parallel_group(),
        "intra_dp_cp": ps.get_data_parallel_group(with_context_parallel=True, partial_data_parallel=True),
        "intra_edp": ps.get_expert_data_parallel_group(partial_expert_data_parallel=True)}
    return {name: torch.distributed.get_process_group_ranks(group) for name, group in found.items()}


def dump(c: Configuration, job: Job, folder: pathlib.Path) -> None:
    """Writes `rank<N>.json`, this rank's part of the listing, and `rank<N>.npy`, the values of its tensors, one after another."""
    check_views(job)
    rank = torch.distributed.get_rank()
    held = [h for chunk, model in enumerate(job.models) for h in held_by(chunk, model)]
    shards = shards_of(job)
    memory, tensors, position, parts = memory_of(c, job, held, shards), [], 0, []
    for entry in tensor_entries(c, held, shards):
        found = memory.values[entry["live_name"], "param" if entry["state"] == "buffer" else entry["state"]]
        tensors.append({**entry, "values": [position, position + len(found)]})
        position += len(found)
        parts.append(found)
    np.save(folder / f"rank{rank}.npy", np.concatenate(parts) if parts else np.zeros(0, np.uint32))
    text = json.dumps({"rank": rank, "tensors": tensors, "buffers": list(buffer_entries(job)), "groups": groups()})
    (folder / f"rank{rank}.json").write_text(text)


