package io.kvorum.boot;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.springframework.util.ClassUtils;
import org.testcontainers.containers.Container;

/**
 * Makes connection details of a container with {@code @ServiceConnection}, if the
 * repository of its image is {@code kvorum}, or with
 * {@code @ServiceConnection("kvorum")}. The container exposes port 8080.
 */
class KvorumContainerConnectionDetailsFactory
		extends ContainerConnectionDetailsFactory<Container<?>, KvorumConnectionDetails> {

	private static final String NAME = "kvorum";

	private static final int PORT = 8080;

	/** The class of {@code kvorum-testcontainers}, which has a factory of its own. */
	private static final String OTHER_FACTORY = "io.kvorum.testcontainers.KvorumContainer";

	KvorumContainerConnectionDetailsFactory() {
		super(NAME, "io.kvorum.client.KvorumClient");
	}

	@Override
	protected boolean sourceAccepts(ContainerConnectionSource<Container<?>> source, Class<?> requiredContainerType,
			Class<?> requiredConnectionDetailsType) {
		return super.sourceAccepts(source, requiredContainerType, requiredConnectionDetailsType)
				&& !hasOtherFactory(source);
	}

	private static boolean hasOtherFactory(ContainerConnectionSource<Container<?>> source) {
		return ClassUtils.isPresent(OTHER_FACTORY, null) && source.accepts(null,
				ClassUtils.resolveClassName(OTHER_FACTORY, null), KvorumConnectionDetails.class);
	}

	@Override
	protected KvorumConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<Container<?>> source) {
		return new Details(source);
	}

	private static final class Details extends ContainerConnectionDetails<Container<?>>
			implements KvorumConnectionDetails {

		private Details(ContainerConnectionSource<Container<?>> source) {
			super(source);
		}

		@Override
		public List<URI> urls() {
			String scheme = (getSslBundle() != null) ? "https" : "http";
			Container<?> container = getContainer();
			return List
				.of(URI.create("%s://%s:%d".formatted(scheme, container.getHost(), container.getMappedPort(PORT))));
		}

		@Override
		public @Nullable SslBundle sslBundle() {
			return getSslBundle();
		}

	}

}
