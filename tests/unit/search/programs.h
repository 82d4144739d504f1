#pragma once
// The programs that the search is measured on, small or at their published shapes.

#include <functional>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace mirage::search {

/// Builds expressions without error handling: a failing step ends the test program.
class Expr {
 public:
  ir::ValueId input(ir::Shape shape, std::string name) {
    return builder_.input({ir::DType::F32, std::move(shape)}, std::move(name)).value();
  }
  ir::ValueId op(ir::OpKind kind, std::initializer_list<ir::ValueId> args, ir::Attrs attrs = {}) {
    return builder_.add(kind, args, std::move(attrs)).value();
  }
  ir::ValueId mul(ir::ValueId a, ir::ValueId b) { return op(ir::OpKind::Mul, {a, b}); }
  ir::ValueId div(ir::ValueId a, ir::ValueId b) { return op(ir::OpKind::Div, {a, b}); }
  ir::ValueId add(ir::ValueId a, ir::ValueId b) { return op(ir::OpKind::Add, {a, b}); }
  ir::ValueId sub(ir::ValueId a, ir::ValueId b) { return op(ir::OpKind::Sub, {a, b}); }
  ir::ValueId matmul(ir::ValueId a, ir::ValueId b) { return op(ir::OpKind::MatMul, {a, b}); }
  ir::ValueId exp(ir::ValueId a) { return op(ir::OpKind::Exp, {a}); }
  ir::ValueId silu(ir::ValueId a) { return op(ir::OpKind::Silu, {a}); }
  ir::ValueId square(ir::ValueId a) { return op(ir::OpKind::Square, {a}); }
  ir::ValueId sqrt(ir::ValueId a) { return op(ir::OpKind::Sqrt, {a}); }
  ir::ValueId reduce(ir::OpKind kind, ir::ValueId a, int64_t axis = -1) {
    ir::Attrs attrs;
    attrs.axis = axis;
    return op(kind, {a}, attrs);
  }
  ir::ValueId sum(ir::ValueId a, int64_t axis = -1) { return reduce(ir::OpKind::Sum, a, axis); }
  ir::ValueId mean(ir::ValueId a, int64_t axis = -1) { return reduce(ir::OpKind::Mean, a, axis); }
  ir::ValueId max(ir::ValueId a, int64_t axis = -1) { return reduce(ir::OpKind::Max, a, axis); }
  ir::ValueId transpose(ir::ValueId a, std::vector<int64_t> perm) {
    ir::Attrs attrs;
    attrs.ints = std::move(perm);
    return op(ir::OpKind::Transpose, {a}, attrs);
  }
  ir::ValueId narrow(ir::ValueId a, int64_t axis, int64_t start, int64_t length) {
    ir::Attrs attrs;
    attrs.axis = axis;
    attrs.ints = {start, length};
    return op(ir::OpKind::Narrow, {a}, attrs);
  }
  ir::ValueId reshape(ir::ValueId a, ir::Shape shape) {
    ir::Attrs attrs;
    attrs.ints = std::move(shape);
    return op(ir::OpKind::Reshape, {a}, attrs);
  }
  ir::ValueId constant(double value) { return builder_.constant(value).value(); }
  ir::ValueId rms_norm(ir::ValueId x, int64_t axis = -1) {
    return div(x, sqrt(mean(square(x), axis)));
  }
  ir::ValueId softmax(ir::ValueId x) {
    const ir::ValueId e = exp(x);
    return div(e, sum(e));
  }
  ir::GraphPtr finish(std::vector<ir::ValueId> outputs = {}) {
    return builder_.finish(outputs).value();
  }

 private:
  ir::GraphBuilder builder_;
};

struct Program {
  std::string name;
  std::function<ir::GraphPtr()> build;
};

inline ir::GraphPtr attention_like(int64_t b, int64_t q, int64_t d, int64_t n, int64_t norm) {
  // norm: 0 none, 1 Q and K over the head dimension, 2 Q and V over the last one, 3 Q and K's last
  Expr e;
  ir::ValueId Q = e.input({b, q, d}, "Q"), K = e.input({b, d, n}, "K"), V = e.input({b, n, d}, "V");
  if (norm) Q = e.rms_norm(Q);
  if (norm == 1) K = e.rms_norm(K, -2);
  if (norm == 2) V = e.rms_norm(V);
  if (norm == 3) K = e.rms_norm(K);
  e.matmul(e.softmax(e.matmul(Q, K)), V);
  return e.finish();
}

/// At the published shapes, or tiny with extents that no tile divides.
inline std::vector<Program> programs(bool tiny = false) {
  const auto pick = [tiny](int64_t published, int64_t small) { return tiny ? small : published; };
  const auto attention = [=](int64_t b, int64_t q, int64_t n, int64_t norm) {
    return tiny ? attention_like(b == 1 ? 1 : 2, 5, 4, 7, norm) : attention_like(b, q, 64, n, norm);
  };
  const auto rms_linear = [=](int64_t m) {
    Expr e;
    const auto x = e.input({pick(m, 3), pick(4096, 8)}, "X"),
               w = e.input({pick(4096, 8), pick(6144, 7)}, "W");
    e.matmul(e.rms_norm(x), w);
    return e.finish();
  };
  const auto ntrans = [=](int64_t m) {
    Expr e;
    const ir::Shape shape = {pick(m, 3), pick(4096, 8)};
    const auto h = e.input(shape, "H"), x = e.input(shape, "X"), a = e.input(shape, "A");
    e.rms_norm(e.add(x, e.mul(a, e.add(e.rms_norm(h), x))));
    return e.finish();
  };
  const auto gated = [=](bool normed) {
    Expr e;
    const int64_t k = pick(4096, 8), n = pick(4096, 7);
    auto x = e.input({pick(8, 3), k}, "X");
    const auto w1 = e.input({k, n}, "W1"), w2 = e.input({k, n}, "W2");
    if (normed) x = e.rms_norm(x);
    e.mul(e.silu(e.matmul(x, w1)), e.matmul(x, w2));
    return e.finish();
  };
  return {
      {"rmsnorm_bs1", [=] { return rms_linear(2); }},
      {"rmsnorm_bs8", [=] { return rms_linear(16); }},
      {"gated_mlp", [=] { return gated(false); }},
      {"lora",
       [=] {
         Expr e;
         const int64_t m = pick(16, 3), k = pick(256, 8), n = pick(4096, 7), r = pick(16, 4);
         const auto x = e.input({m, k}, "X"), w = e.input({k, n}, "W"), a = e.input({k, r}, "A"),
                    b = e.input({r, n}, "B");
         e.add(e.matmul(x, w), e.matmul(e.matmul(x, a), b));
         return e.finish();
       }},
      {"mha_bs1", [=] { return attention(32, 16, 4096, 0); }},
      {"gqa_bs1", [=] { return attention(2, 256, 4096, 0); }},
      {"gqa_bs8", [=] { return attention(16, 256, 4096, 0); }},
      {"mqa_bs1", [=] { return attention(1, 1024, 4096, 0); }},
      {"qknorm_qk", [=] { return attention(2, 256, 4096, 1); }},
      {"qknorm_qv", [=] { return attention(2, 256, 4096, 2); }},
      {"qknorm_doc", [=] { return attention(2, 256, 4096, 3); }},
      {"ntrans_bs1", [=] { return ntrans(8); }},
      {"rmsnorm_gated_mlp", [=] { return gated(true); }},
      {"layernorm_linear",
       [=] {
         Expr e;
         const int64_t k = pick(4096, 8);
         const auto x = e.input({pick(16, 3), k}, "X"), w = e.input({k, pick(4096, 7)}, "W");
         const auto centred = e.sub(x, e.mean(x));
         e.matmul(e.div(centred, e.sqrt(e.mean(e.square(centred)))), w);
         return e.finish();
       }},
      {"softmax",
       [=] {
         Expr e;
         e.softmax(e.input({pick(256, 5), pick(4096, 7)}, "X"));
         return e.finish();
       }},
      {"safe_softmax_attention",
       [=] {
         Expr e;
         const int64_t q = pick(256, 5), d = pick(64, 4), n = pick(4096, 7);
         const auto Q = e.input({2, q, d}, "Q"), K = e.input({2, d, n}, "K"),
                    V = e.input({2, n, d}, "V");
         const auto s = e.matmul(Q, K);
         e.matmul(e.softmax(e.sub(s, e.max(s))), V);
         return e.finish();
       }},
      {"scaled_transposed_attention",
       [=] {
         Expr e;
         const int64_t q = pick(256, 5), d = pick(64, 4), n = pick(4096, 7);
         const auto Q = e.input({2, q, d}, "Q"), K = e.input({2, n, d}, "K"),
                    V = e.input({2, n, d}, "V");
         const auto s = e.mul(e.matmul(Q, e.transpose(K, {0, 2, 1})), e.constant(0.125));
         e.matmul(e.softmax(s), V);
         return e.finish();
       }},
      {"mlp3",
       [=] {
         Expr e;
         const int64_t k = pick(512, 8), r = pick(1024, 6);
         const auto x = e.input({pick(8, 3), k}, "X"), w1 = e.input({k, r}, "W1"),
                    w2 = e.input({k, r}, "W2"), w3 = e.input({r, pick(256, 7)}, "W3");
         e.matmul(e.mul(e.silu(e.matmul(x, w1)), e.matmul(x, w2)), w3);
         return e.finish();
       }},
      {"matmul_chain",
       [=] {
         Expr e;
         const int64_t k = pick(256, 8), r = pick(128, 6);
         const auto a = e.input({pick(16, 3), k}, "A"), b = e.input({k, r}, "B"),
                    c = e.input({r, pick(512, 7)}, "C");
         e.matmul(e.matmul(a, b), c);
         return e.finish();
       }},
      {"norm_gain_eps_linear",
       [=] {
         Expr e;
         const int64_t k = pick(4096, 8);
         const auto x = e.input({1, k}, "X"), g = e.input({1, k}, "G"),
                    w = e.input({k, pick(6144, 7)}, "W");
         const auto rms = e.sqrt(e.add(e.mean(e.square(x)), e.constant(1e-5)));
         e.matmul(e.mul(e.div(x, rms), g), w);
         return e.finish();
       }},
      {"two_outputs",
       [=] {
         Expr e;
         const int64_t k = pick(4096, 8);
         const auto x = e.input({pick(16, 3), k}, "X"), w = e.input({k, pick(512, 7)}, "W"),
                    bias = e.input({pick(512, 7)}, "bias");
         const auto y = e.matmul(x, w);
         const auto z = e.op(ir::OpKind::Relu, {e.add(y, bias)});
         return e.finish({z, y, e.sum(x)});
       }},
  };
}

/// Programs that read parts of their inputs, or read them in another shape.
inline std::vector<Program> view_programs() {
  return {
      {"latent_attention",
       [] {
         Expr e;
         const auto q = e.input({1, 5, 6}, "Q"), c = e.input({1, 7, 6}, "C");
         e.matmul(e.softmax(e.matmul(q, e.transpose(c, {0, 2, 1}))), e.narrow(c, 2, 0, 4));
         return e.finish();
       }},
      {"gated_mlp_of_one_weight",
       [] {
         Expr e;
         const auto x = e.input({3, 8}, "X"), w = e.input({8, 14}, "W");
         e.mul(e.silu(e.matmul(x, e.narrow(w, 1, 0, 7))), e.matmul(x, e.narrow(w, 1, 7, 7)));
         return e.finish();
       }},
      {"part_of_a_reshaped_weight",
       [] {
         Expr e;
         const auto x = e.input({3, 8}, "X"), w = e.input({2, 56}, "W");
         e.matmul(x, e.narrow(e.reshape(w, {16, 7}), 0, 5, 8));
         return e.finish();
       }},
      {"view_that_is_an_output",
       [] {
         Expr e;
         const auto x = e.input({3, 8}, "X");
         const auto part = e.narrow(x, 1, 2, 4);
         return e.finish({part, e.rms_norm(part), x});
       }},
  };
}

}  // namespace mirage::search
