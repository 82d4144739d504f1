"""Graphs as text and as files, in and out."""

import json
import pathlib

import mirage as mi
import pytest

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = sorted((ROOT / "tests/data/mugraphs").glob("*.old.json"))


def tensor(guid, code, *dim):
    return {
        "data_type": code,
        "dim": [*dim, 0, 0],
        "guid": guid,
        "layout": "DmemRowMajor",
        "num_dims": 2,
    }


def exp_graph(code, **changes):
    """A published file of one graph: exp of an 8 x 16 tensor."""
    nowhere = {"x": -1, "y": -1, "z": -1}
    x, y = tensor(1, code, 8, 16), tensor(2, code, 8, 16)
    return [
        {"op_type": "kn_input_op", "input_tensors": [], "output_tensors": [x], "input_strides": [16, 1],
         "input_map": nowhere},
        {"op_type": "kn_exp_op", "input_tensors": [x], "output_tensors": [y], **changes},
        {"op_type": "kn_output_op", "input_tensors": [y], "output_tensors": [], "output_strides": [16, 1],
         "output_map": nowhere},
    ]  # fmt: skip


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    "code, epoch, dtype",
    [(940, "old", mi.bfloat16), (941, "old", mi.float16), (940, "new", mi.float16), (941, "new", mi.bfloat16),
     (921, "old", mi.float16), (921, "new", mi.float16)],
)  # fmt: skip
def test_the_epoch_says_what_dtype_codes_mean(tmp_path, code, epoch, dtype):
    path = write(tmp_path / "g.json", exp_graph(code))
    graph = mi.new_kernel_graph()
    assert graph.from_json(path, epoch=epoch) is graph
    assert graph.inputs[0].dtype == dtype
    assert [g.inputs[0].dtype for g in mi.load(path, epoch)] == [dtype]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_json_and_back(tmp_path, path):
    for number, graph in enumerate(mi.load(path, "old")):
        first = mi.new_kernel_graph().from_json(f"{path}#{number}", epoch="old")
        assert first.hash == graph.hash
        for epoch in ("old", "new"):
            first.to_json(tmp_path / "g.json", epoch=epoch)
            assert (
                mi.new_kernel_graph().from_json(tmp_path / "g.json", epoch=epoch).hash == graph.hash
            )


def test_text_and_back():
    graph = mi.Graph("both")
    x = graph.input((4, 6), "bf16", strides=(1, 4), name="x")
    graph.mark_output(graph.clamp(x, -1, 0.1) + 2, strides=(1, 4))
    (again,) = mi.parse(str(graph))
    assert again.hash == graph.hash and str(again) == str(graph)


def test_a_customized_graph_is_that_of_its_export(tmp_path):
    graph = mi.new_kernel_graph()
    x, w = graph.new_input((16, 4096)), graph.new_input((4096, 6144))
    block = mi.new_threadblock_graph((96, 1, 1), (128, 1, 1), 64, 64)
    tx, tw = block.new_input(x, (-1, -1, -1), 1), block.new_input(w, (1, -1, -1), 0)
    block.new_output(
        block.div(block.forloop_accum(block.matmul(tx, tw)), block.forloop_accum(tx, "rms")),
        (1, -1, -1),
    )
    (y,) = graph.customized([x, w], block)
    graph.mark_output(y)
    graph.to_json(tmp_path / "g.json")
    kinds = [
        op["op_type"]
        for op in json.loads((tmp_path / "g.json").read_text())[0][2]["bgraph"]["operators"]
    ]
    assert "tb_forloop_accum_red_ld_rms_op" in kinds
    assert mi.load(tmp_path / "g.json")[0].hash == graph.hash


def test_a_loaded_graph_can_go_on():
    (graph,) = mi.parse("kernel @g(%x: f32[4,8]) -> f32[4,8] { %y = exp %x return %y }")
    graph.output(graph.log(graph.outputs[0]))
    assert len(graph.outputs) == 2


def test_a_missing_file_and_a_wrong_epoch(tmp_path):
    with pytest.raises(mi.Error) as caught:
        mi.load(tmp_path / "none.mu")
    assert caught.value.code == "i/o"
    with pytest.raises(ValueError, match="epoch: expected old or new, found newest"):
        mi.load(tmp_path / "none.json", epoch="newest")


def test_from_json_wants_one_graph(tmp_path):
    path = write(tmp_path / "two.json", [exp_graph(940), exp_graph(940)])
    with pytest.raises(ValueError, match="expected one graph, found 2; FILE#n picks one"):
        mi.new_kernel_graph().from_json(path)
    assert mi.new_kernel_graph().from_json(f"{path}#1").inputs[0].shape == (8, 16)
