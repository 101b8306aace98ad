package io.kvorum.app;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

class RetiredClusterTests {

	private static String obstacle(String json) {
		return String.valueOf(RetiredCluster.obstacle(new JsonMapper().readTree(json)));
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';',
			value = { "stable;member;,\"retired\":true;null", "stable;member;'';http://b:1 is not retired",
					"stable;member;,\"retired\":false;http://b:1 is not retired", "stable;away;'';http://b:1 is away",
					"moving;member;,\"retired\":true;their layout is changing" })
	void aTakeoverBeginsWhenEachNodeHasSaidThatItIsRetired(String layout, String state, String retired,
			String expected) {
		assertThat(obstacle("""
				{"layout":{"version":1,"state":"%s","factor":3},"nodes":[
				{"address":"http://a:1","state":"member","retired":true},
				{"address":"http://b:1","state":"%s"%s}]}""".formatted(layout, state, retired))).isEqualTo(expected);
	}

	@Test
	void anAnswerWithoutNodesIsNoAnswer() {
		assertThat(obstacle("{\"layout\":{\"state\":\"stable\"},\"nodes\":[]}")).isNotEqualTo("null");
		assertThat(obstacle("{}")).isNotEqualTo("null");
	}

}
