"""Architectures beside those of `wider.py`: newer decoders, state-space ones, experts.

Also readers of images and of sounds, what diffusers has beside its first networks, and further
families of timm and torchvision.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from architectures import Axes, Case, First, pixel_case, sound_case, word_case
from torch import nn
from wider import cached, pair, task, timm_case

WORDS = """
Apertus Bamba BitNet Cohere2 CTRL Cwm Dbrx DeepseekV2 DeepseekV3 Dots1 Doge EuroBert FalconH1
FalconMamba FlexOlmo Funnel GPTNeoXJapanese Gemma3Text Glm4Moe GptOss GraniteMoeHybrid
GraniteMoeShared HunYuanDenseV1 JetMoe Jamba Lilt LongT5Encoder Mpt Mra MiniMax ModernBertDecoder
NanoChat NemotronH NomicBert Olmo3 Olmoe OpenAIGPT Phimoe RecurrentGemma RoCBert Splinter
Qwen3Next VaultGemma XLMRobertaXL Xmod Youtu Zamba Zamba2 xLSTM Ministral3 Canine Reformer
JinaEmbeddingsV3 Lfm2Moe BartDecoder Tapas Bros Ernie4_5_Moe OlmoHybrid KimiLinear ImageGPT
"""
PIXELS = """
AST Aimv2Vision Bit DINOv3ViT DINOv3ConvNext Dinat DonutSwin FocalNet Levit MLCDVision
MaskFormerSwin SamVision Sam2HieraDet Swin2SR SwiftFormer TextNet VitDet Data2VecVision
Dinov2WithRegisters EfficientFormer IJepa Cvt Radio Pixio Sapiens2
"""
SOUNDS = "Wav2Vec2Conformer UniSpeechSat SEWD"
PAIRS = "BigBirdPegasus LongT5 ProphetNet PLBart T5Gemma SeamlessM4T Dia"
CACHED = """
Mixtral Qwen3Moe DeepseekV3 GptOss Cohere2 Olmo3 Ernie4_5 SmolLM3 Bloom GPTBigCode Apertus
Starcoder2 Nemotron Persimmon Helium Glm4
"""
TASKS = """
SamModel OwlViTModel Owlv2Model CLIPSegModel Aimv2Model GitModel FlavaModel LxmertModel
BridgeTowerModel Siglip2Model OwlViTForObjectDetection CLIPSegForImageSegmentation
MgpstrForSceneTextRecognition SegGptModel TvpModel XCLIPModel AlignModel LevitForImageClassification
BeitForSemanticSegmentation MobileViTForSemanticSegmentation Data2VecVisionForSemanticSegmentation
DinatForImageClassification ZoeDepthForDepthEstimation GLPNForDepthEstimation
PerceiverForImageClassificationLearned SwiftFormerForImageClassification
"""
TIMM = """
beit_base_patch16_224:224 halo2botnet50ts_256:256 lamhalobotnet50ts_256:256 sehalonet33ts:256
gcresnext26ts resnet32ts resnext26ts seresnet33ts seresnext26ts cspresnext50 darknetaa53
densenet161 efficientnetv2_s gc_efficientnetv2_rw_t test_efficientnet test_efficientnet_evos
inception_resnet_v2:128 test_mambaout maxxvit_rmlp_nano_rw_256:256 test_coatnet test_maxvit
fbnetv3_b tf_mobilenetv3_large_075 nasnetalarge:96 eca_nfnet_l0 test_nfnet pnasnet5large:96
regnetx_002 regnety_002 regnetz_005 ecaresnetlight ecaresnext26t_32x4d resnet10t resnext50_32x4d
seresnet18 seresnextaa101d_32x8d test_resnet skresnext50_32x4d swinv2_cr_tiny_ns_224:224
swinv2_tiny_window8_256:256 test_vit_relpos samvit_base_patch16_224:224 eca_vovnet39b
legacy_xception:128 naflexvit_base_patch16_gap:384 test_vit2 test_vit3 test_vit4
vit_base_patch16_rope_reg1_gap_256:256 vit_pe_core_tiny_patch16_384:384 wide_resnet50_2
"""
TORCHVISION = """
resnet34 vgg16 mnasnet1_3 regnet_x_8gf shufflenet_v2_x2_0 efficientnet_b4 convnext_base swin_s
swin_v2_s vit_b_16:224 segmentation.fcn_resnet101 video.swin3d_t:56 video.mvit_v2_s:224 swin_t:224
swin_v2_t:224 alexnet:64 squeezenet1_0
"""


# -- diffusers ----------------------------------------------------------------------------

Tensors = dict[str, torch.Tensor]
Shown = tuple[dict[str, Any], Callable[[int, int], Tensors]]


def _noise(
    n: int, channels: int, side: int, words: int = 16, key: str = "hidden_states"
) -> Tensors:
    return {
        key: torch.randn(n, channels, side, side),
        "timestep": torch.tensor([7] * n),
        "encoder_hidden_states": torch.randn(n, 5, words),
    }


def _stable(n: int, side: int) -> Tensors:
    return {**_noise(n, 4, side, 32), "pooled_projections": torch.randn(n, 64)}


def _flux(n: int, side: int) -> Tensors:
    return {
        "hidden_states": torch.randn(n, side * 2, 4), "timestep": torch.tensor([0.5] * n),
        "encoder_hidden_states": torch.randn(n, 6, 32), "pooled_projections": torch.randn(n, 32),
        "img_ids": torch.randn(side * 2, 3), "txt_ids": torch.randn(6, 3),
    }  # fmt: skip


def _film(n: int, side: int) -> Tensors:
    made = _noise(n, 4, side, 32, "sample")
    return {**made, "sample": torch.randn(n, 4, 3, side, side)}


DOWN3 = {"down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D")}
UP3 = {"up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D")}
DOWN2 = {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D")}
WIDTHS = {"block_out_channels": (32, 64), "layers_per_block": 1}
DIFFUSERS: Mapping[str, Shown] = {
    "SD3Transformer2DModel": (
        {"sample_size": 32, "patch_size": 1, "in_channels": 4, "num_layers": 2,
         "attention_head_dim": 8, "num_attention_heads": 4, "caption_projection_dim": 32,
         "joint_attention_dim": 32, "pooled_projection_dim": 64, "out_channels": 4}, _stable),
    "FluxTransformer2DModel": (
        {"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1,
         "attention_head_dim": 16, "num_attention_heads": 2, "joint_attention_dim": 32,
         "pooled_projection_dim": 32, "axes_dims_rope": [4, 4, 8]}, _flux),
    "AuraFlowTransformer2DModel": (
        {"sample_size": 32, "patch_size": 2, "in_channels": 4, "num_mmdit_layers": 1,
         "num_single_dit_layers": 1, "attention_head_dim": 8, "num_attention_heads": 4,
         "caption_projection_dim": 32, "joint_attention_dim": 32, "out_channels": 4,
         "pos_embed_max_size": 256}, lambda n, side: _noise(n, 4, side, 32)),
    "SanaTransformer2DModel": (
        {"patch_size": 1, "in_channels": 4, "out_channels": 4, "num_layers": 1,
         "attention_head_dim": 4, "num_attention_heads": 2, "num_cross_attention_heads": 2,
         "cross_attention_head_dim": 4, "cross_attention_dim": 8, "caption_channels": 8,
         "sample_size": 32}, lambda n, side: _noise(n, 4, side, 8)),
    "UNet3DConditionModel": (
        {**WIDTHS, **DOWN3, **UP3, "cross_attention_dim": 32, "attention_head_dim": 8,
         "norm_num_groups": 8}, _film),
    "ControlNetModel": (
        {**WIDTHS, **DOWN2, "cross_attention_dim": 32, "attention_head_dim": 8,
         "norm_num_groups": 8, "conditioning_embedding_out_channels": (16, 32)},
        lambda n, side: {**_noise(n, 4, side, 32, "sample"),
                         "controlnet_cond": torch.randn(n, 3, 2 * side, 2 * side)}),
    "AutoencoderDC": (
        {"in_channels": 3, "latent_channels": 4, "attention_head_dim": 2,
         "encoder_block_types": ("ResBlock", "EfficientViTBlock"),
         "decoder_block_types": ("ResBlock", "EfficientViTBlock"),
         "encoder_block_out_channels": (8, 8), "decoder_block_out_channels": (8, 8),
         "encoder_qkv_multiscales": ((), (5,)), "decoder_qkv_multiscales": ((), (5,)),
         "encoder_layers_per_block": (1, 1), "decoder_layers_per_block": (1, 1),
         "downsample_block_type": "conv", "upsample_block_type": "interpolate",
         "decoder_norm_types": "rms_norm", "decoder_act_fns": "silu"},
        lambda n, side: {"sample": torch.randn(n, 3, side, side)}),
    "AutoencoderOobleck": (
        {"encoder_hidden_size": 12, "decoder_channels": 12, "decoder_input_channels": 6,
         "audio_channels": 2, "downsampling_ratios": [2, 4], "channel_multiples": [1, 2]},
        lambda n, side: {"sample": torch.randn(n, 2, 16 * side)}),
    "AutoencoderKLCogVideoX": (
        {"in_channels": 3, "out_channels": 3, "latent_channels": 4, "norm_num_groups": 2,
         "down_block_types": ("CogVideoXDownBlock3D",) * 4, "layers_per_block": 1,
         "up_block_types": ("CogVideoXUpBlock3D",) * 4, "block_out_channels": (8, 8, 8, 8),
         "temporal_compression_ratio": 4},
        lambda n, side: {"sample": torch.randn(n, 3, 8, side, side)}),
    "CogVideoXTransformer3DModel": (
        {"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4, "out_channels": 4,
         "time_embed_dim": 2, "text_embed_dim": 8, "num_layers": 2, "sample_width": 8,
         "sample_height": 8, "sample_frames": 8, "patch_size": 2, "max_text_seq_length": 8,
         "temporal_compression_ratio": 4},
        lambda n, side: {"hidden_states": torch.randn(n, 2, 4, 8, 8),
                         "encoder_hidden_states": torch.randn(n, 8, 8),
                         "timestep": torch.tensor([7] * n)}),
    "LatteTransformer3DModel": (
        {"sample_size": 8, "num_layers": 1, "patch_size": 2, "attention_head_dim": 4,
         "num_attention_heads": 2, "caption_channels": 8, "in_channels": 4, "out_channels": 8,
         "cross_attention_dim": 8, "attention_bias": True, "norm_type": "ada_norm_single",
         "norm_elementwise_affine": False},
        lambda n, side: {"hidden_states": torch.randn(n, 4, 1, 8, 8),
                         "encoder_hidden_states": torch.randn(n, 4, 8),
                         "timestep": torch.tensor([7] * n)}),
    "WanTransformer3DModel": (
        {"patch_size": (1, 2, 2), "num_attention_heads": 2, "attention_head_dim": 12,
         "in_channels": 4, "out_channels": 4, "text_dim": 16, "freq_dim": 256, "ffn_dim": 32,
         "num_layers": 2, "cross_attn_norm": True, "qk_norm": "rms_norm_across_heads",
         "rope_max_seq_len": 32},
        lambda n, side: {"hidden_states": torch.randn(n, 4, 2, 16, 16),
                         "encoder_hidden_states": torch.randn(n, 12, 16),
                         "timestep": torch.tensor([7] * n)}),
    "Lumina2Transformer2DModel": (
        {"sample_size": 16, "patch_size": 2, "in_channels": 4, "hidden_size": 24, "num_layers": 1,
         "num_refiner_layers": 1, "num_attention_heads": 3, "num_kv_heads": 1, "multiple_of": 2,
         "norm_eps": 1e-5, "scaling_factor": 1.0, "axes_dim_rope": (4, 2, 2),
         "axes_lens": (128, 128, 128), "cap_feat_dim": 32},
        lambda n, side: {"hidden_states": torch.randn(n, 4, 16, 16),
                         "timestep": torch.rand(n),
                         "encoder_hidden_states": torch.randn(n, 16, 32),
                         "encoder_attention_mask": torch.ones(n, 16).bool()}),
}  # fmt: skip
FIXED = ("CogVideoXT", "Latte", "Wan", "Lumina2", "Flux", "Oobleck")


class ByName(nn.Module):
    """A network of diffusers that gives tensors, not an object with them."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, **given: torch.Tensor) -> Any:
        return self.model(**given, return_dict=False)[0]


def diffuser(name: str) -> Case:
    """Return a small network of diffusers; where it takes them, height and width are open."""
    options, given = DIFFUSERS[name]
    model = getattr(importlib.import_module("diffusers"), name)(**options)
    every = [given(n, side) for n, side in ((1, 16), (2, 24), (1, 32))]
    axes: Axes = {key: {0: "batch"} for key in every[0] if not key.endswith("_ids")}
    key = next(iter(every[0]))
    if not any(part in name for part in FIXED):
        rank = every[0][key].ndim
        axes[key] |= {rank - 2: "height", rank - 1: "width"}
        if "controlnet_cond" in axes:
            axes["controlnet_cond"] |= {2: "height2", 3: "width2"}
    names = list(every[0])
    return Case(First(ByName(model), names, most=1), every[:2], axes, every[2:])


def torchvision(name: str) -> Case:
    """Return a network of torchvision; some of those before at the size that they are made for."""
    return importlib.import_module("architectures").torchvision_case(name)  # type: ignore[no-any-return]


FARTHER: dict[str, tuple[str, Callable[[str], Case]]] = {
    "words3": (WORDS, word_case),
    "pixels3": (PIXELS, pixel_case),
    "sounds3": (SOUNDS, sound_case),
    "pairs3": (PAIRS, pair),
    "cached3": (CACHED, cached),
    "tasks3": (TASKS, task),
    "timm3": (TIMM, timm_case),
    "diffusers3": (" ".join(DIFFUSERS), diffuser),
    "torchvision3": (TORCHVISION, torchvision),
}
