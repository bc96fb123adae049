"""Architectures beside those of `farther.py`: the newest decoders, two towers, series, flows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from architectures import Axes, Case, First, config_of, pixel_case, sound_case, word_case
from torch import nn
from wider import cached, pair, task, timm_case

WORDS = """
Afmoe AriaText MiniMaxM2 MiniCPM3 InternLM3 Gte Glm4MoeLite LongcatFlash Llama4Text Gemma3nText
Gemma4Text Qwen3_5Text Qwen3_5MoeText SarvamMoE SolarOpen HunYuanMoEV1 ExaoneMoe Cohere2Moe CpmAnt
Laguna MarkupLM Zaya Esmc BlipText CLIPText SiglipText AltCLIPText ClapText MetaClip2Text GraniteSWA
GraniteMoeSWA HrmText DeepseekV32 Mistral4 MiMoV2Flash Lfm3 GlmMoeDsa BailingHybrid Mellum
IQuestCoder OpenAIPrivacyFilter Qwen2VLText Qwen3VLText XCLIPText FlavaText GroupViTText
"""
PIXELS = """
HGNetV2 RTDetrResNet VitPose DepthPro PPLCNet InternVLVision MetaClip2Vision BlipVision CHMv2
Sam2Vision LwDetrViT CLIPVision AltCLIPVision FlavaImage GroupViTVision Idefics2Vision Blip2Vision
PixtralVision Ovis2Vision Tipsv2Vision Pix2StructVision TimmWrapper GitVision VitPoseBackbone
"""
SOUNDS = "OmniASR MoonshineStreamingEncoder Wav2Vec2Bert ClapAudio"
PAIRS = "FSMT SeamlessM4Tv2 T5Gemma2 Pop2Piano"
CACHED = """
Exaone4 Llama4Text MiniMaxM2 Qwen3_5Text Gemma3Text Lfm2 SeedOss DiffLlama Arcee Dots1 Jamba
GraniteMoe HunYuanDenseV1 Gemma3nText NanoChat
"""
TASKS = """
DabDetrForObjectDetection RTDetrV2ForObjectDetection Deimv2ForObjectDetection
LwDetrForObjectDetection RfDetrForObjectDetection EomtForUniversalSegmentation
VitPoseForPoseEstimation PromptDepthAnythingForDepthEstimation ClapModel MetaClip2Model
VideoLlama3VisionModel VJEPA2Model SamHQModel SpeechT5Model PPOCRV5MobileDetForObjectDetection
PPOCRV5MobileRecForTextRecognition SLANetForTableRecognition
"""
TIMM = """
senet154:64 seresnetaa50d sam2_hiera_tiny:224 aimv2_large_patch14_224:224 vit_dpwee_patch16_224:224
vit_little_patch16_reg1_gap_256:256 convnext_zepto_rms efficientnet_b0_g8_gn resnet50_gn
"""
TORCHVISION = "regnet_y_3_2gf vgg19_bn mvit_v1_b:224 swin3d_s:56 deeplabv3_resnet101"


class Flow(nn.Module):
    """A flow between two images, its last step."""

    def __init__(self) -> None:
        super().__init__()
        self.model = importlib.import_module("torchvision.models.optical_flow").raft_small()

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> Any:
        return self.model(first, second, num_flow_updates=2)[-1]


def flow(_: str) -> Case:
    """Return a network of flows between images."""
    every = [{k: torch.randn(n, 3, h, w) for k in ("first", "second")}
             for n, h, w in ((1, 128, 128), (2, 128, 136), (1, 136, 128))]  # fmt: skip
    axes: Axes = {k: {0: "batch", 2: "height", 3: "width"} for k in every[0]}
    return Case(Flow(), every[:2], axes, every[2:])


def forecast(name: str) -> Case:
    """Return a network that is given a past and what is known of a time."""
    hub = importlib.import_module("transformers")
    if name.startswith("TimesFm"):
        model = getattr(hub, f"{name}ModelForPrediction")(config_of(name))
        every = [{"past_values": torch.randn(n, 64)} for n in (1, 2, 3)]
        return Case(First(model, ["past_values"], most=1), every[:2], {"past_values": {0: "batch"}})
    if name == "DecisionTransformer":
        config = config_of(name)
        config.state_dim, config.act_dim = 5, 3
        model = hub.DecisionTransformerModel(config)
        every = [
            {"states": torch.randn(n, t, 5), "actions": torch.randn(n, t, 3),
             "rewards": torch.randn(n, t, 1), "returns_to_go": torch.randn(n, t, 1),
             "timesteps": torch.arange(t).repeat(n, 1), "attention_mask": torch.ones(n, t).long()}
            for n, t in ((1, 5), (2, 7), (1, 1))
        ]  # fmt: skip
        axes: Axes = {key: {0: "batch", 1: "length"} for key in every[0]}
        return Case(First(model, list(every[0]), most=3), every[:2], axes, every[2:])
    config = getattr(hub, f"{name}Config")(
        prediction_length=4, context_length=12, lags_sequence=[1, 2, 3], num_time_features=2,
        d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
    )  # fmt: skip
    model = getattr(hub, f"{name}Model")(config)
    every = [
        {"past_values": torch.randn(n, 15), "past_time_features": torch.randn(n, 15, 2),
         "past_observed_mask": torch.ones(n, 15), "future_values": torch.randn(n, 4),
         "future_time_features": torch.randn(n, 4, 2)} for n in (1, 2, 3)
    ]  # fmt: skip
    axes = {key: {0: "batch"} for key in every[0]}
    return Case(First(model, list(every[0]), most=1), every[:2], axes, every[2:])


def torchvision(name: str) -> Case:
    """Return a network of torchvision."""
    more = {
        "swin3d_s:56": "video.swin3d_s:56",
        "deeplabv3_resnet101": "segmentation.deeplabv3_resnet101",
    }
    made: Case = importlib.import_module("architectures").torchvision_case(more.get(name, name))
    return made


RARER: dict[str, tuple[str, Callable[[str], Case]]] = {
    "words4": (WORDS, word_case),
    "pixels4": (PIXELS, pixel_case),
    "sounds4": (SOUNDS, sound_case),
    "pairs4": (PAIRS, pair),
    "cached4": (CACHED, cached),
    "tasks4": (TASKS, task),
    "timm4": (TIMM, timm_case),
    "torchvision4": (TORCHVISION, torchvision),
    "flows": ("RAFT", flow),
    "forecasts": ("Informer Autoformer TimeSeriesTransformer TimesFm TimesFm2_5 "
                  "DecisionTransformer", forecast),
}  # fmt: skip
