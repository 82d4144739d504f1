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

inline std::vector<Program> programs() {
  const auto rms_linear = [](int64_t m) {
    Expr e;
    const auto x = e.input({m, 4096}, "X"), w = e.input({4096, 6144}, "W");
    e.matmul(e.rms_norm(x), w);
    return e.finish();
  };
  const auto ntrans = [](int64_t m) {
    Expr e;
    const auto h = e.input({m, 4096}, "H"), x = e.input({m, 4096}, "X"),
               a = e.input({m, 4096}, "A");
    e.rms_norm(e.add(x, e.mul(a, e.add(e.rms_norm(h), x))));
    return e.finish();
  };
  return {
      {"rmsnorm_bs1", [=] { return rms_linear(2); }},
      {"rmsnorm_bs8", [=] { return rms_linear(16); }},
      {"gated_mlp",
       [] {
         Expr e;
         const auto x = e.input({8, 4096}, "X"), w1 = e.input({4096, 4096}, "W1"),
                    w2 = e.input({4096, 4096}, "W2");
         e.mul(e.silu(e.matmul(x, w1)), e.matmul(x, w2));
         return e.finish();
       }},
      {"lora",
       [] {
         Expr e;
         const auto x = e.input({16, 256}, "X"), w = e.input({256, 4096}, "W"),
                    a = e.input({256, 16}, "A"), b = e.input({16, 4096}, "B");
         e.add(e.matmul(x, w), e.matmul(e.matmul(x, a), b));
         return e.finish();
       }},
      {"mha_bs1", [] { return attention_like(32, 16, 64, 4096, 0); }},
      {"gqa_bs1", [] { return attention_like(2, 256, 64, 4096, 0); }},
      {"gqa_bs8", [] { return attention_like(16, 256, 64, 4096, 0); }},
      {"mqa_bs1", [] { return attention_like(1, 1024, 64, 4096, 0); }},
      {"qknorm_qk", [] { return attention_like(2, 256, 64, 4096, 1); }},
      {"qknorm_qv", [] { return attention_like(2, 256, 64, 4096, 2); }},
      {"qknorm_doc", [] { return attention_like(2, 256, 64, 4096, 3); }},
      {"ntrans_bs1", [=] { return ntrans(8); }},
      {"ntrans_bs8", [=] { return ntrans(64); }},
      {"rmsnorm_gated_mlp",
       [] {
         Expr e;
         const auto x = e.input({8, 4096}, "X"), w1 = e.input({4096, 4096}, "W1"),
                    w2 = e.input({4096, 4096}, "W2");
         const auto y = e.rms_norm(x);
         e.mul(e.silu(e.matmul(y, w1)), e.matmul(y, w2));
         return e.finish();
       }},
      {"layernorm_linear",
       [] {
         Expr e;
         const auto x = e.input({16, 4096}, "X"), w = e.input({4096, 4096}, "W");
         const auto centred = e.sub(x, e.mean(x));
         e.matmul(e.div(centred, e.sqrt(e.mean(e.square(centred)))), w);
         return e.finish();
       }},
      {"softmax",
       [] {
         Expr e;
         e.softmax(e.input({256, 4096}, "X"));
         return e.finish();
       }},
      {"safe_softmax_attention",
       [] {
         Expr e;
         const auto q = e.input({2, 256, 64}, "Q"), k = e.input({2, 64, 4096}, "K"),
                    v = e.input({2, 4096, 64}, "V");
         const auto s = e.matmul(q, k);
         e.matmul(e.softmax(e.sub(s, e.max(s))), v);
         return e.finish();
       }},
      {"mlp3",
       [] {
         Expr e;
         const auto x = e.input({8, 512}, "X"), w1 = e.input({512, 1024}, "W1"),
                    w2 = e.input({512, 1024}, "W2"), w3 = e.input({1024, 256}, "W3");
         e.matmul(e.mul(e.silu(e.matmul(x, w1)), e.matmul(x, w2)), w3);
         return e.finish();
       }},
      {"matmul_chain",
       [] {
         Expr e;
         const auto a = e.input({16, 256}, "A"), b = e.input({256, 128}, "B"),
                    c = e.input({128, 512}, "C");
         e.matmul(e.matmul(a, b), c);
         return e.finish();
       }},
      {"norm_gain_linear",
       [] {
         Expr e;
         const auto x = e.input({1, 4096}, "X"), g = e.input({1, 4096}, "G"),
                    w = e.input({4096, 6144}, "W");
         e.matmul(e.mul(e.rms_norm(x), g), w);
         return e.finish();
       }},
  };
}

}  // namespace mirage::search
