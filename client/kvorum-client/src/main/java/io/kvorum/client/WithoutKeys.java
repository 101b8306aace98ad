package io.kvorum.client;

import java.net.URI;

import io.micrometer.common.KeyValue;
import org.jspecify.annotations.Nullable;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientRequestObservationContext;
import org.springframework.web.reactive.function.client.ClientRequestObservationConvention;
import org.springframework.web.reactive.function.client.DefaultClientRequestObservationConvention;

/**
 * Observes requests without the keys in them: one may be the id of a session, and whoever
 * has it has the session.
 */
final class WithoutKeys extends DefaultClientRequestObservationConvention
		implements ClientRequestObservationConvention {

	@Override
	protected KeyValue httpUrl(ClientRequestObservationContext context) {
		ClientRequest request = context.getRequest();
		return KeyValue.of("http.url", (request != null) ? withoutQuery(request.url()) : "none");
	}

	private static String withoutQuery(@Nullable URI url) {
		return (url != null) ? "%s://%s%s".formatted(url.getScheme(), url.getAuthority(), url.getPath()) : "none";
	}

}
