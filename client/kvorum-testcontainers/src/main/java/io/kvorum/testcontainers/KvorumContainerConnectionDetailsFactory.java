package io.kvorum.testcontainers;

import java.net.URI;
import java.util.List;

import io.kvorum.boot.KvorumConnectionDetails;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;

/**
 * Makes connection details of a {@link KvorumContainer} with {@code @ServiceConnection}.
 * Those of other containers are made by the starter.
 */
class KvorumContainerConnectionDetailsFactory
		extends ContainerConnectionDetailsFactory<KvorumContainer, KvorumConnectionDetails> {

	KvorumContainerConnectionDetailsFactory() {
		super(ANY_CONNECTION_NAME, "io.kvorum.client.KvorumClient");
	}

	@Override
	protected KvorumConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<KvorumContainer> source) {
		return new Details(source);
	}

	private static final class Details extends ContainerConnectionDetails<KvorumContainer>
			implements KvorumConnectionDetails {

		private @Nullable String apiKey;

		private Details(ContainerConnectionSource<KvorumContainer> source) {
			super(source);
		}

		/**
		 * Reads the API key, since {@link #apiKey()} must not block, and
		 * {@link #getContainer()} asks Docker whether the container runs.
		 */
		@Override
		public void afterPropertiesSet() throws Exception {
			super.afterPropertiesSet();
			this.apiKey = getContainer().getApiKey();
		}

		@Override
		public List<URI> urls() {
			return getContainer().getUrls();
		}

		@Override
		public @Nullable String apiKey() {
			return this.apiKey;
		}

	}

}
