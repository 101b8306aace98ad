package io.kvorum.campaign;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.testing.Answer;
import io.kvorum.testing.KvorumClient;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** What all nodes hold themselves, compared byte for byte. */
final class Replicas {

	private static final JsonMapper JSON = new JsonMapper();

	private static final int PAGE = 20_000;

	/** By key the lines that nodes tell of it: id, version, content type, value. */
	private final Map<String, List<String>> copies = new TreeMap<>();

	private final Map<String, Integer> values = new HashMap<>();

	static Replicas of(List<KvorumClient> nodes) {
		Replicas replicas = new Replicas();
		nodes.forEach(replicas::add);
		return replicas;
	}

	private void add(KvorumClient node) {
		String start = "c/";
		while (!start.isEmpty()) {
			Answer answer = node.exchange("GET", "/v0/entities?start=" + start + "&end=c0&scope=node&limit=" + PAGE,
					"Accept", "application/x-ndjson");
			if (answer.status() != 200) {
				throw new IllegalStateException("a node cannot tell what it holds: " + answer);
			}
			start = add(answer.text());
		}
	}

	/** Returns where it goes on; empty at the end. */
	private String add(String page) {
		String next = "";
		boolean ended = false;
		for (String line : (Iterable<String>) page.lines()::iterator) {
			Map<String, Object> told = JSON.readValue(line, new TypeReference<Map<String, Object>>() {
			});
			if (told.get("id") instanceof String key) {
				add(key, line);
			}
			else {
				ended = true;
				next = (told.get("next") instanceof String key) ? key : "";
			}
		}
		if (!ended) {
			throw new IllegalStateException("a node broke off telling what it holds");
		}
		return next;
	}

	void add(String key, String line) {
		this.copies.computeIfAbsent(key, _ -> new ArrayList<>()).add(line);
		if (JSON.readValue(line, new TypeReference<Map<String, Object>>() {
		}).get("value") instanceof String value) {
			this.values.put(key, Clients.valueOf(java.util.Base64.getDecoder().decode(value)));
		}
	}

	/** The values that are held, by key. */
	Map<String, Integer> values() {
		return this.values;
	}

	/** Keys whose copies are not as many as they should be, or not the same. */
	Map<String, List<String>> differences(int expected) {
		Map<String, List<String>> differences = new TreeMap<>();
		this.copies.forEach((key, lines) -> {
			if (lines.size() != expected || lines.stream().distinct().count() != 1) {
				differences.put(key, lines);
			}
		});
		return differences;
	}

}
