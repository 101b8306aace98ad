package io.kvorum.node;

import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.WebFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same where the application has a filter: requests for entities take the long way
 * through WebFlux, with the same answers, and none passes the filter by.
 */
@Import(FilteredEntityEndpointTest.Filters.class)
class FilteredEntityEndpointTest extends EntityEndpointTest {

	FilteredEntityEndpointTest(@LocalServerPort int port, @Autowired MeterRegistry meters) {
		super(port, meters);
	}

	@Test
	void aFilterKeepsARequestFromTheEntity() throws Exception {
		assertThat(this.node.send("PUT", "/v0/entity?id=locked", new byte[1]).statusCode()).isEqualTo(201);
		assertThat(this.node.send("GET", "/v0/entity?id=locked&token=wrong").statusCode()).isEqualTo(401);
	}

	@TestConfiguration
	static class Filters {

		@Bean
		WebFilter bouncer() {
			return (exchange, chain) -> {
				if (exchange.getRequest().getQueryParams().containsKey("token")) {
					exchange.getResponse().setStatusCode(HttpStatus.UNAUTHORIZED);
					return exchange.getResponse().setComplete();
				}
				return chain.filter(exchange);
			};
		}

	}

}
