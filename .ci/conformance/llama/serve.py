"""Serves a GGUF model with llama.cpp's HTTP server on a free port of loopback.

usage: serve.py MODEL.gguf    prints the URL, and ends when its input does
"""
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"tiny"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.n_parallel = 4  # slots of 512 tokens, which is what the model was made for
params.cpuparams.n_threads = 1  # more threads than cores only spin
params.cpuparams_batch.n_threads = 1
params.use_jinja = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
