"""What `simcli advise --deploy` prints for Kubernetes, against the formats of those that read it.

The schemas are our own, of what the projects' documentation allows: NVIDIA device plugin (config v1), HAMi 2.x
(resource names), KAI scheduler (annotations, labels), NVIDIA DRA driver (GpuConfig of resource.nvidia.com/v1beta1) in a
claim of resource.k8s.io/v1. A key that none of them knows fails.
"""

import os
import pathlib
import re
import subprocess

import pytest

yaml = pytest.importorskip("yaml")
jsonschema = pytest.importorskip("jsonschema")
ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMCLI = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build" / "release")) / "simcli"
CNN, VIT = (ROOT / f"traces/samples/{name}.kineto.json.gz" for name in ("cnn_train_small", "vit_infer_bs32"))
NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}


def closed(**properties):
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def pod(container, metadata=(), spec=()):
    parts = {"name": {"const": "main"}, "image": {"const": "IMAGE"}, "command": {"const": ["COMMAND"]}, **container}
    return closed(apiVersion={"const": "v1"}, kind={"const": "Pod"}, metadata=closed(name=NAME, **dict(metadata)),
                  spec=closed(containers={"type": "array", "minItems": 1, "maxItems": 1, "items": closed(**parts)},
                              **dict(spec)))


PLUGIN = closed(version={"const": "v1"}, sharing={
    "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False,
    "properties": {kind: closed(resources={"type": "array", "items": closed(
        name={"const": "nvidia.com/gpu"}, replicas={"const": 2})}) for kind in ("timeSlicing", "mps")}})
LIMITS = {"nvidia.com/gpu": {"const": 1}, "nvidia.com/gpumem-percentage": {"const": 50}}
HAMI = pod({"resources": closed(limits=closed(**LIMITS))})
KAI_METADATA = {"labels": closed(**{"kai.scheduler/queue": {"const": "default-queue"}}),
                "annotations": closed(**{"gpu-fraction": {"type": "string", "pattern": r"^0\.(49|50)$"}})}
KAI = pod({}, KAI_METADATA, {"schedulerName": {"const": "kai-scheduler"}})
KAI_MPS = pod({"volumeMounts": {"const": [{"name": "mps", "mountPath": "/tmp/nvidia-mps"}]}}, KAI_METADATA,
              {"schedulerName": {"const": "kai-scheduler"},
               "volumes": {"const": [{"name": "mps", "hostPath": {"path": "/tmp/nvidia-mps"}}]}})
DRA_POD = pod({"resources": {"const": {"claims": [{"name": "gpu"}]}}}, (),
              {"resourceClaims": {"const": [{"name": "gpu", "resourceClaimName": "shared-gpu"}]}})


def claim(sharing):
    config = closed(requests={"const": ["gpu"]}, opaque=closed(driver={"const": "gpu.nvidia.com"}, parameters=closed(
        apiVersion={"const": "resource.nvidia.com/v1beta1"}, kind={"const": "GpuConfig"}, sharing={"const": sharing})))
    return closed(
        apiVersion={"const": "resource.k8s.io/v1"}, kind={"const": "ResourceClaim"}, metadata=closed(name=NAME),
        spec=closed(devices=closed(
            requests={"const": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]},
            config={"type": "array", "minItems": 1, "maxItems": 1, "items": config})))


def deploy(kind, mode):
    rates = ["--solo-rate", "cnn_train_small=375.69/s", "--solo-rate", "vit_infer_bs32=122.95/s"]
    keys = [word for name in ("cnn_train_small", "vit_infer_bs32")
            for word in ("--set", f"{name}.pacing=sync_each_job")]
    done = subprocess.run([SIMCLI, "advise", CNN, VIT, "--modes", mode, "--deploy", kind, *rates, *keys], cwd=ROOT,
                          capture_output=True, text=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize("kind, mode, first, others", [
    ("kubernetes", "time_sliced", PLUGIN, None), ("hami", "time_sliced", HAMI, HAMI), ("kai", "time_sliced", KAI, KAI),
    ("kai", "mps", KAI_MPS, KAI_MPS), ("dra", "time_sliced", claim({"strategy": "TimeSlicing"}), DRA_POD),
    ("dra", "mps", claim({"strategy": "MPS"}), DRA_POD)])
def test_documents_are_of_the_format_that_their_reader_documents(kind, mode, first, others):
    text, errors = deploy(kind, mode)
    documents = list(yaml.safe_load_all(text))
    documents = [document for document in documents if document is not None]
    assert documents, errors
    jsonschema.validate(documents[0], first)
    for document in documents[1:]:
        jsonschema.validate(document, others)
    pods = [document["metadata"]["name"] for document in documents if document.get("kind") == "Pod"]
    assert pods in ([], ["cnn-train-small", "vit-infer-bs32"])
    assert re.search(r"v?\d+\.\d+ or later", text), "it names a version"


@pytest.mark.parametrize("kind, mode", [("hami", "mps"), ("dra", "mig"), ("kai", "mig"), ("kubernetes", "mps")])
def test_what_a_reader_cannot_share_so_is_refused_with_what_can(kind, mode):
    text, errors = deploy(kind, mode)
    assert text == "" and f"`{kind}` cannot set up" in errors and "help" in errors
