package io.kvorum.testing.monitoring;

import java.util.List;

import io.kvorum.testing.monitoring.PromQl.Condition;
import io.kvorum.testing.monitoring.PromQl.Grouping;
import io.kvorum.testing.monitoring.PromQl.Selector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PromQlTests {

	private static final Selector A = new Selector("a", List.of());

	private static final Selector B = new Selector("b", List.of());

	@Test
	void aMetricAndItsConditions() {
		assertThat(PromQl.of("a{x='1', y!=\"2\",z=~'3|4',w!~\"5.*\"}").selectors())
			.containsExactly(new Selector("a", List.of(new Condition("x", "=", "1"), new Condition("y", "!=", "2"),
					new Condition("z", "=~", "3|4"), new Condition("w", "!~", "5.*"))));
	}

	@Test
	void functionsNumbersDurationsAndSignsAreNoMetrics() {
		assertThat(PromQl.of("-rate(a[5m]) / 1e6 > bool 0.5 and (1 - b offset 1d) != vector(0)").selectors())
			.containsExactly(A, B);
		assertThat(PromQl.of("max_over_time(sum(a)[1d:10m]) or histogram_quantile(0.99, b)").selectors())
			.containsExactly(A, B);
	}

	@Test
	void anAggregationGroupsWhatIsInItsParentheses() {
		assertThat(PromQl.of("sum by (x, y) (rate(a[5m])) / b").groupings())
			.containsExactly(new Grouping(List.of("x", "y"), List.of(A)));
		assertThat(PromQl.of("b / sum(rate(a[5m])) without (x)").groupings())
			.containsExactly(new Grouping(List.of("x"), List.of(A)));
	}

	@Test
	void aJoinGroupsBothSides() {
		assertThat(PromQl.of("a == 0 unless on (x) b > 1").groupings())
			.containsExactly(new Grouping(List.of("x"), List.of(A, B)));
		assertThat(PromQl.of("a / ignoring (x) group_left () sum(b)").groupings())
			.containsExactly(new Grouping(List.of("x"), List.of(A, B)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "sum by (x) (a", "a b", "a{x}", "a +", "rate(a[5m)", "a{x='1'", "a ? b", "'a" })
	void whatIsNoExpressionIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> PromQl.of(text));
	}

}
