package io.kvorum.node;

import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.server.WebFilter;

/** The same where requests for entities take the long way. */
@Import(FilteredAccessTest.Filters.class)
class FilteredAccessTest extends AccessTest {

	FilteredAccessTest(@LocalServerPort int port) {
		super(port);
	}

	@Override
	int filtersExpected() {
		return 1;
	}

	@TestConfiguration
	static class Filters {

		@Bean
		WebFilter passing() {
			return (exchange, chain) -> chain.filter(exchange);
		}

	}

}
