// What generated code and the headers above it need of a machine beyond CUDA C++ itself. Two kits
// have these names: ptx/ for GPUs, the only place with assembly, and device/host, which checks
// every use on the CPU.
#pragma once

#include "mirage/cuda/types.h"

#ifdef MIRAGE_HOST_KIT
#include "mirage/host/kit.h"
#else
#include "mirage/cuda/ptx/barriers.h"
#include "mirage/cuda/ptx/cluster.h"
#include "mirage/cuda/ptx/memory.h"
#include "mirage/cuda/ptx/numbers.h"
#include "mirage/cuda/ptx/products.h"
#endif
