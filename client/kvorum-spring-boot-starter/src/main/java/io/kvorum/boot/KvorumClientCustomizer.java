package io.kvorum.boot;

import io.kvorum.client.KvorumClient;

/**
 * Changes the client of the application before it is made. Beans of this type are called
 * in their order, after the properties have been applied.
 */
@FunctionalInterface
public interface KvorumClientCustomizer {

	/**
	 * Changes the client.
	 * @param builder has the properties, the connection details and the observation
	 * registry already
	 */
	void customize(KvorumClient.Builder builder);

}
