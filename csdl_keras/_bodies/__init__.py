"""The networks that algorithms train: how each is built, and how it is trained."""

from csdl_keras._bodies.automatic_body import AutomaticBody
from csdl_keras._bodies.body import Body
from csdl_keras._bodies.caffe_body import CaffeBody
from csdl_keras._bodies.mlp_body import MLPBody

#: Networks by the name that an `Algorithm` has for them.
NETWORKS: dict[str, Body] = {"mlp": MLPBody(), "cnn": CaffeBody(), "auto": AutomaticBody()}

__all__ = ["NETWORKS", "Body"]
