"""Architectures of others with random weights: a module, inputs of two sizes, its open axes.

Run by the Python that has torch, torchvision, timm, transformers and scikit-learn.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

Axes = dict[str, dict[int, str]]


@dataclass(frozen=True)
class Case:
    """A module in its inference mode, named inputs of two sizes, and the names of open axes.

    The edges are sizes such as 0, 1 and odd ones, which count where onnxruntime takes them.
    """

    module: nn.Module
    inputs: Sequence[Mapping[str, torch.Tensor]]
    axes: Axes
    edges: Sequence[Mapping[str, torch.Tensor]] = ()


class First(nn.Module):
    """Gives the tensors that a model returns, in their order, without its dictionaries."""

    def __init__(self, model: nn.Module, names: Sequence[str], most: int = 2) -> None:
        super().__init__()
        self.model, self.names, self.most = model, names, most

    def forward(self, *values: torch.Tensor) -> Any:
        given = dict(zip(self.names, values, strict=True))
        made = self.model(**given) if self.names != ["x"] else self.model(*values)
        return tuple(tensors_of(made)[: self.most])


def tensors_of(made: Any) -> list[torch.Tensor]:
    """Return the tensors in what a model gives."""
    if isinstance(made, torch.Tensor):
        return [made] if made.numel() else []
    if isinstance(made, Mapping):
        made = list(made.values())
    if isinstance(made, list | tuple):
        return [tensor for each in made for tensor in tensors_of(each)]
    return []


# -- images -------------------------------------------------------------------------------

TORCHVISION = """
alexnet densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3:96 mnasnet0_5
mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 resnet50
resnext50_32x4d shufflenet_v2_x0_5 squeezenet1_1 vgg11 wide_resnet50_2 convnext_tiny swin_t
swin_v2_t maxvit_t:224 vit_b_32:224
segmentation.deeplabv3_mobilenet_v3_large segmentation.fcn_resnet50
segmentation.lraspp_mobilenet_v3_large segmentation.deeplabv3_resnet50
video.r3d_18:56 video.mc3_18:56 video.r2plus1d_18:56 video.s3d:64
"""
TIMM = """
bat_resnext26ts botnet26t_256:256 coat_tiny:224 coatnet_nano_rw_224:224 convit_tiny:224
convmixer_768_32 convnext_atto convnextv2_atto crossvit_tiny_240:240 cspdarknet53 cspresnet50
davit_tiny:224 deit_tiny_patch16_224:224 deit3_small_patch16_224:224 dla34 dm_nfnet_f0
dpn68 eca_resnet33ts edgenext_xx_small efficientformer_l1:224 efficientformerv2_s0:224
efficientvit_b0 efficientvit_m0:224 ese_vovnet19b_dw eva02_tiny_patch14_224:224 fastvit_t8
fbnetc_100 focalnet_tiny_srf gernet_s ghostnet_100 ghostnetv2_100 gmlp_s16_224:224 halonet26t:256
hardcorenas_a hgnet_tiny hgnetv2_b0 hrnet_w18_small inception_next_tiny inception_v4:128
lambda_resnet26t:256 lcnet_050 levit_128s:224 maxxvitv2_nano_rw_256:256 mixer_s32_224:224
mixnet_s mobilenetv4_conv_small mobileone_s0 mobilevit_xxs:256 mobilevitv2_050:256
mvitv2_tiny:224 nest_tiny:224 nf_resnet50 pit_ti_224:224 poolformer_s12 pvt_v2_b0 regnetz_b16
repghostnet_050 repvgg_a0 repvit_m0_9 res2net50_14w_8s resmlp_12_224:224 resnest14d
resnetv2_50 rexnet_100 rexnetr_100 sebotnet33ts_256:256 selecsls42b semnasnet_075 sequencer2d_s
skresnet18 starnet_s1 swiftformer_xs:224 swinv2_cr_tiny_224:224 tinynet_e tiny_vit_5m_224:224
tnt_s_patch16_224:224 tresnet_m twins_pcpvt_small:224 vgg11_bn visformer_tiny:224
vit_tiny_patch16_224:224 vovnet39a volo_d1_224:224 xception41:128 xcit_nano_12_p16_224:224
"""


def image(make: Callable[[], nn.Module], side: int, *, frames: int = 0) -> Case:
    """Return a network of images; those of any size have open height and width."""
    sizes = [(1, side, side), (2, side + 32, side)] if side == OPEN else [(1, side, side)] * 2
    sizes += [(3, 97, 75), (0, side, side)] if side == OPEN else [(3, side, side), (0, side, side)]
    every = [{"x": torch.randn(n, 3, *([frames] * bool(frames)), h, w)} for n, h, w in sizes]
    rank = 5 if frames else 4
    axes = {0: "batch", rank - 2: "height", rank - 1: "width"}
    opened = {"x": axes if side == OPEN else {0: "batch"}}
    return Case(First(make(), ["x"]), every[:2], opened, every[2:])


OPEN = 64
"""The side of images of networks that take any size."""


def torchvision_case(name: str) -> Case:
    models = importlib.import_module("torchvision.models")
    name, _, side = name.partition(":")
    more = {"weights_backbone": None} if name.startswith("segmentation") else {}
    make = models.get_model_builder(name.rpartition(".")[2])
    frames = 16 if name == "video.s3d" else 8 if name.startswith("video") else 0
    return image(lambda: make(weights=None, **more), int(side or OPEN), frames=frames)


def timm_case(name: str) -> Case:
    timm = importlib.import_module("timm")
    name, _, side = name.partition(":")
    return image(lambda: timm.create_model(name, pretrained=False), int(side or OPEN))


# -- sequences ----------------------------------------------------------------------------

SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "vocab_size": 100, "max_position_embeddings": 64, "num_key_value_heads": 2, "head_dim": 8,
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
    "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "d_ff": 64, "d_kv": 8,
    "num_layers": 2, "num_heads": 4, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64,
    "ffn_dim": 64, "embedding_size": 32, "word_embed_proj_dim": 32, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "sliding_window": 16, "use_cache": False,
    "attention_window": 8, "state_size": 4, "image_size": 32, "patch_size": 8,
    "num_local_experts": 4, "num_experts": 4, "moe_intermediate_size": 32, "q_lora_rank": 16,
    "kv_lora_rank": 16, "local_attention": 16, "kv_channels": 8, "ffn_hidden_size": 64,
    "attention_types": [[["global", "local"], 1]], "partial_rotary_factor": 0.5,
    "projection_dim": 16, "pad_token": 0, "n_inner": 64, "intermediate_dim": 64,
    "num_experts_per_tok": 2,
}  # fmt: skip
WORDS = """
Albert Arcee Bert BertGeneration BigBird BioGpt Bloom Camembert CodeGen Cohere ConvBert
Data2VecText Deberta DebertaV2 DistilBert DiffLlama Electra Ernie Ernie4_5 Esm Exaone4 Falcon
Flaubert FNet GPT2 GPTBigCode GPTJ GPTNeo GPTNeoX Gemma Gemma2 Glm Glm4 Granite GraniteMoe Helium
IBert Jais2 Lfm2 Llama Longformer Luke MPNet MPT MegatronBert Ministral Mistral Mixtral MobileBert
ModernBert Mvp Nemotron Nystromformer OPT Olmo Olmo2 Persimmon Phi Phi3 Qwen2 Qwen2Moe Qwen3
Qwen3Moe RemBert Roberta RobertaPreLayerNorm RoFormer SeedOss SmolLM3 SqueezeBert StableLm
Starcoder2 XLM XLMRoberta XLNet XGLM Yoso Mamba Mamba2 Rwkv T5Encoder UMT5Encoder MT5Encoder
BartDecoder
"""
PIXELS = """
ViT DeiT Beit Swin Swinv2 ConvNext ConvNextV2 Segformer Dinov2 MobileViT MobileViTV2 ResNet RegNet
PoolFormer Pvt PvtV2 LevitTiny Focalnet ViTMAE ViTMSN Hiera Yolos CLIPVision SiglipVision
EfficientNet MobileNetV1 MobileNetV2 BitBackbone DPTTiny GLPN
"""
SOUNDS = "Wav2Vec2 Hubert WavLM UniSpeech SEW Data2VecAudio WhisperEncoder ASTTiny"


def config_of(name: str) -> Any:
    """Return a small configuration of an architecture, by the fields that it has."""
    hub = importlib.import_module("transformers")
    kind = getattr(hub, f"{name}Config")
    known = kind().to_dict()
    same = {key: type(known[key]) for key in SMALL if known.get(key) is not None}
    fits = {key: value for key, value in SMALL.items() if same.get(key, type(value)) is type(value)}
    made = kind(**{key: value for key, value in fits.items() if key in known})
    made._attn_implementation = made._experts_implementation = "eager"
    return made


def word_case(name: str) -> Case:
    """Return a network of words with an open batch and an open length."""
    hub = importlib.import_module("transformers")
    stem = name.removesuffix("Encoder") if name.endswith("Encoder") else name
    kind = getattr(hub, f"{name}Model", None) or getattr(hub, name)
    config = config_of(stem)
    model = kind(config)
    inputs = [
        {"input_ids": torch.randint(3, 90, shape), "attention_mask": torch.ones(shape).long()}
        for shape in ((1, 12), (2, 20), (3, 7), (1, 1), (0, 12))
    ]
    for each in inputs[:3]:
        each["attention_mask"][-1, -3:] = 0
    has_mask = name not in ("FNet", "Mamba", "Mamba2", "Rwkv", "XLNet")
    names = ["input_ids", "attention_mask"] if has_mask else ["input_ids"]
    chosen = [{key: each[key] for key in names} for each in inputs]
    axes: Axes = {key: {0: "batch", 1: "length"} for key in names}
    return Case(First(model, names, most=1), chosen[:2], axes, chosen[2:])


def pixel_case(name: str) -> Case:
    """Return a network of images of the library of transformers."""
    hub = importlib.import_module("transformers")
    model = getattr(hub, f"{name}Model")(config_of(name))
    side = int(getattr(model.config, "image_size", OPEN) or OPEN)
    every = [{"pixel_values": torch.randn(n, 3, side, side)} for n in (1, 2, 0)]
    axes: Axes = {"pixel_values": {0: "batch"}}
    return Case(First(model, ["pixel_values"], most=1), every[:2], axes, every[2:])


def sound_case(name: str) -> Case:
    """Return a network of sounds, of open length."""
    hub = importlib.import_module("transformers")
    if name == "WhisperEncoder":
        kind = importlib.import_module("transformers.models.whisper.modeling_whisper")
        config = config_of("Whisper")
        config.max_source_positions = 50
        inputs = [{"input_features": torch.randn(n, config.num_mel_bins, 100)} for n in (1, 2)]
        model = kind.WhisperEncoder(config)
        return Case(First(model, ["input_features"], most=1), inputs,
                    {"input_features": {0: "batch"}})  # fmt: skip
    model = getattr(hub, f"{name}Model")(config_of(name))
    inputs = [{"input_values": torch.randn(n, length)} for n, length in ((1, 3200), (2, 4000))]
    axes: Axes = {"input_values": {0: "batch", 1: "length"}}
    return Case(First(model, ["input_values"], most=1), inputs, axes)


FAMILIES: dict[str, tuple[str, Callable[[str], Case]]] = {
    "torchvision": (TORCHVISION, torchvision_case),
    "timm": (TIMM, timm_case),
    "words": (WORDS, word_case),
    "pixels": (PIXELS, pixel_case),
    "sounds": (SOUNDS, sound_case),
}

# -- estimators ---------------------------------------------------------------------------

ESTIMATORS = """
linear_model.LinearRegression linear_model.LogisticRegression linear_model.Ridge
linear_model.Lasso linear_model.SGDClassifier linear_model.Perceptron
linear_model.BayesianRidge linear_model.PoissonRegressor linear_model.RidgeClassifier
svm.SVC svm.SVR svm.LinearSVC svm.LinearSVR svm.NuSVC svm.NuSVR svm.OneClassSVM
tree.DecisionTreeClassifier tree.DecisionTreeRegressor tree.ExtraTreeClassifier
ensemble.RandomForestClassifier ensemble.RandomForestRegressor ensemble.ExtraTreesClassifier
ensemble.GradientBoostingClassifier ensemble.GradientBoostingRegressor
ensemble.HistGradientBoostingClassifier ensemble.HistGradientBoostingRegressor
ensemble.AdaBoostClassifier ensemble.AdaBoostRegressor ensemble.BaggingClassifier
ensemble.IsolationForest neighbors.KNeighborsClassifier neighbors.KNeighborsRegressor
naive_bayes.GaussianNB naive_bayes.BernoulliNB neural_network.MLPClassifier
neural_network.MLPRegressor cluster.KMeans decomposition.PCA decomposition.TruncatedSVD
preprocessing.StandardScaler preprocessing.MinMaxScaler preprocessing.RobustScaler
preprocessing.Normalizer preprocessing.PolynomialFeatures preprocessing.KBinsDiscretizer
discriminant_analysis.LinearDiscriminantAnalysis discriminant_analysis.QuadraticDiscriminantAnalysis
gaussian_process.GaussianProcessRegressor mixture.GaussianMixture
"""


def estimator(name: str) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return a fitted estimator and rows to try it on."""
    folder, _, kind = name.rpartition(".")
    make = getattr(importlib.import_module(f"sklearn.{folder}"), kind)
    random = np.random.default_rng(0)
    rows = random.standard_normal((60, 5)).astype(np.float32)
    labels = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int) + (rows[:, 3] > 0.4)
    numbers = np.abs(rows[:, 0] * 2 + rows[:, 1] ** 2)
    is_class = "Class" in kind or kind.endswith(("SVC", "NB", "Analysis", "Perceptron"))
    few: dict[str, Any] = {"nu": 0.1} if kind == "NuSVC" else {}
    few |= {"encode": "ordinal"} if kind == "KBinsDiscretizer" else {}
    few |= {"n_estimators": 5} if folder == "ensemble" and "Hist" not in kind else {}
    made = make(**few)
    return made.fit(rows, labels if is_class or kind == "LogisticRegression" else numbers), rows


def all_names() -> list[str]:
    """Return the names of all cases, with their family in front."""
    names = [f"{family}/{name}" for family, (text, _) in FAMILIES.items() for name in text.split()]
    for own in ("small", "strange"):
        names += [f"{own}/{name}" for name in importlib.import_module(own).CASES]
    more = importlib.import_module("more").more_names()
    return [*names, *(f"sklearn/{name}" for name in ESTIMATORS.split()), *more]


def case_of(name: str) -> Case:
    """Return the case of a name."""
    family, _, rest = name.partition("/")
    torch.manual_seed(0)
    if family in ("small", "strange"):
        made = importlib.import_module(family).CASES[rest]()
    else:
        families = {**FAMILIES, **importlib.import_module("more").TORCH}
        made = families[family][1](rest)
    made.module.eval()
    return made
