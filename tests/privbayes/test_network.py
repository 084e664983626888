"""Networks that are given: read, ordered, refused."""

from __future__ import annotations

import json

import pytest

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.privbayes.network import Node, by_name, given_network, joints


def test_parents_come_first_whatever_the_order_of_the_columns(domain):
    network = given_network({"a": ["c"], "c": ["b"]}, domain(2, 2, 2))
    assert [node.attribute for node in network] == [1, 2, 0]
    assert [node.parents for node in network] == [(), (1,), (2,)]


def test_a_file_is_read_and_what_is_reported_can_be_given_again(domain, tmp_path):
    path = tmp_path / "network.json"
    where = domain(2, 3, 2)
    network = given_network({"b": ["a"], "c": ["a", "b"]}, where)
    path.write_text(json.dumps(by_name(network, where)))
    assert given_network(path, where) == given_network(str(path), where) == network


@pytest.mark.parametrize(
    "given, message",
    [
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, "ring"),
        ({"a": ["a"]}, "ring"),
        ({"a": ["B"]}, "unknown column 'B'; there are: a, b, c"),
        ({"z": []}, "unknown column 'z'"),
        ({"a": "bc"}, "lists of their parents"),
        ({"a": [1]}, "lists of their parents"),
        (["a"], "lists of their parents"),
        ("nowhere.json", "network nowhere.json does not exist; give"),
    ],
)
def test_what_is_no_network_is_refused(domain, given, message):
    with pytest.raises(InputError, match=message):
        given_network(given, domain(2, 2, 2))


def test_a_file_that_is_not_json_is_refused(domain, tmp_path):
    (tmp_path / "network.json").write_text("a -> b")
    with pytest.raises(InputError, match="is not JSON"):
        given_network(tmp_path / "network.json", domain(2, 2))


def test_columns_of_one_value_are_no_parents(domain):
    network = given_network({"c": ["a", "b", "b"]}, domain(1, 2, 2))
    assert network[-1] == Node(2, (1,))


def test_a_binary_network_of_degree_k_has_d_minus_k_joints():
    network = [Node(i, tuple(range(max(0, i - 2), i))) for i in range(6)]
    assert joints(network) == [(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5)]
