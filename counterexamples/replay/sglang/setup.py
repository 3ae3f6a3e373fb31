"""Configuration, process group, tiny model and adapters: what a scheduler process has before it serves.

Everything here is the release's own: ``ServerArgs`` and its runtime context, a gloo world of one, and one
``RowParallelLinear`` and one ``ParallelLMHead`` in a module tree of the names that the LoRA manager looks
for. Adapters are written as
files and read by the release's own loader. Where releases differ, the release is asked for what it has.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from slotproof.counterexamples.replay.sglang.neutral import torch

HIDDEN = 8
VOCABULARY = 64
LAYER = "model.layers.0.self_attn.o_proj"
LOGITS = "lm_head"

_KEPT: list[Any] = []  # overrides that stay in force for as long as the process lives


def srt(module: str) -> Any:
    """A module of the release, by its path under ``sglang.srt``; ``None`` where the release has none."""
    try:
        return importlib.import_module(f"sglang.srt.{module}")
    except ModuleNotFoundError as error:
        if error.name is not None and f"sglang.srt.{module}".startswith(error.name):
            return None
        raise


def accepted(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that the release's function takes."""
    known = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return dict(options)
    return {name: value for name, value in options.items() if name in known}


def configure(**fields: Any) -> Any:
    """Publish ``ServerArgs`` with these fields and return them.

    0.5.16 and later read a runtime context; before, ``set_global_server_args_for_scheduler`` is all.
    """
    server_args = srt("server_args")
    made = server_args.ServerArgs
    known = getattr(made, "__struct_fields__", None) or made.__dataclass_fields__
    values = {
        "device": "cpu",
        "attention_backend": "torch_native",
        "sampling_backend": "pytorch",
        "grammar_backend": "none",
        "pp_max_micro_batch_size": 8,
        "page_size": 1,
        "disable_cuda_graph": True,
        "chunked_prefill_size": 4096,
        "max_running_requests": 64,
        "skip_tokenizer_init": True,
        "mem_fraction_static": 0.5,
        **fields,
    }
    values = {name: value for name, value in values.items() if name in known}
    context = srt("runtime_context")
    overrides = context is not None and hasattr(context, "get_context")
    if overrides and hasattr(context.get_context(), "override_server_args"):
        published = context.get_context().override_server_args(**values).install()
    else:
        published = made(model_path="dummy")
        for name, value in values.items():
            object.__setattr__(published, name, value)
        server_args.set_global_server_args_for_scheduler(published)
    return published


def join_world_of_one(folder: Path) -> None:
    """A gloo world with this process alone, over a file."""
    import sys

    state = srt("distributed.parallel_state")
    hook = sys.excepthook
    state.init_distributed_environment(
        world_size=1, rank=0, local_rank=0, backend="gloo", distributed_init_method=f"file://{folder}/world"
    )
    state.initialize_model_parallel(**accepted(state.initialize_model_parallel, {"backend": "gloo"}))
    sys.excepthook = hook  # torch replaces it, and an error would be said by torch alone
    attention = srt("layers.dp_attention")
    for name, value in {
        "_ATTN_TP_RANK": 0,
        "_ATTN_TP_SIZE": 1,
        "_ATTN_DP_RANK": 0,
        "_ATTN_DP_SIZE": 1,
        "_LOCAL_ATTN_DP_SIZE": 1,
        "_LOCAL_ATTN_DP_RANK": 0,
    }.items():
        if hasattr(attention, name):
            setattr(attention, name, value)
    _say_ranks()


def _say_ranks() -> None:
    """This process's ranks, where the runtime context wants them to be told (0.5.20 on)."""
    context = srt("runtime_context")
    if context is None or not hasattr(context, "get_parallel"):
        return
    parallel = context.get_parallel()
    names = [n for n in dir(type(parallel)) if n.endswith("_rank") and not n.startswith("_")]
    missing = {}
    for name in names:
        try:
            getattr(parallel, name)
        except Exception:
            missing[name] = 0
    if missing:
        _KEPT.append(parallel.override(**missing))
        _KEPT[-1].__enter__()


def tiny_model() -> tuple[Any, Any]:
    """A model of one real output projection and one real logits layer, and its configuration."""
    nn = torch().nn
    linear = srt("layers.linear")
    config = importlib.import_module("transformers").LlamaConfig(
        hidden_size=HIDDEN,
        intermediate_size=HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        vocab_size=VOCABULARY,
    )

    attention, layer, body, model = (nn.Module() for _ in range(4))
    attention.o_proj = linear.RowParallelLinear(
        HIDDEN, HIDDEN, bias=False, params_dtype=torch().float32, prefix=LAYER
    )
    nn.init.normal_(attention.o_proj.weight)
    layer.self_attn = attention
    body.layers = nn.ModuleList([layer])
    model.config, model.model = config, body
    model.lm_head = srt("layers.vocab_parallel_embedding").ParallelLMHead(
        VOCABULARY, HIDDEN, params_dtype=torch().float32, prefix=LOGITS
    )
    nn.init.normal_(model.lm_head.weight)
    return model, config


def write_adapter(folder: Path, name: str, seed: int, targets: Collection[str] = ("o_proj",)) -> Path:
    """An adapter of rank 2 for these layers, as the files that a user would have."""
    save_file = importlib.import_module("safetensors.torch").save_file
    made = torch().Generator().manual_seed(seed)
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    weights = {}
    for layer, width in ((LAYER, HIDDEN), (LOGITS, VOCABULARY)):
        if layer.rpartition(".")[2] in targets:
            prefix = f"base_model.model.{layer}"
            weights[f"{prefix}.lora_A.weight"] = torch().randn(2, HIDDEN, generator=made)
            weights[f"{prefix}.lora_B.weight"] = torch().randn(width, 2, generator=made)
    save_file(weights, str(place / "adapter_model.safetensors"))
    settings = {
        "peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": list(targets), "bias": "none",
    }  # fmt: skip
    (place / "adapter_config.json").write_text(json.dumps(settings))
    return place


def build_manager(
    server_args: Any,
    slots: int,
    backend: str = "torch_native",
    model: Any = None,
    config: Any = None,
    targets: Collection[str] = ("o_proj",),
) -> Any:
    """The release's ``LoRAManager`` on the tiny model, with its slot pool and the base model in slot 0."""
    if model is None:
        model, config = tiny_model()
    made = srt("lora.lora_manager").LoRAManager
    options = {
        "base_model": model,
        "base_hf_config": config,
        "max_loras_per_batch": slots,
        "load_config": srt("configs.load_config").LoadConfig(load_format="auto"),
        "dtype": torch().float32,
        "server_args": server_args,
        "lora_backend": backend,
        "tp_size": 1,
        "tp_rank": 0,
        "max_lora_rank": 2,
        "target_modules": set(targets),
        "lora_paths": None,
    }
    return made(**accepted(made.__init__, options))


def reference(uid: str, name: str, place: Path, pinned: bool) -> Any:
    """A ``LoRARef``, as the tokenizer makes one for an adapter."""
    return srt("lora.lora_registry").LoRARef(lora_id=uid, lora_name=name, lora_path=str(place), pinned=pinned)


def namespace(**fields: Any) -> SimpleNamespace:
    """An object with these attributes, for what a method reads of a part that is not driven."""
    return SimpleNamespace(**fields)
