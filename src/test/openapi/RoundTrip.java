import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

import client.ApiClient;
import client.api.EntitiesApi;
import client.api.NodeApi;
import client.api.RangesApi;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.HttpClientErrorException;

/** Uses the generated client against a node: RoundTrip &lt;url&gt; &lt;API key&gt; */
public final class RoundTrip {

	private static final String ANY = "*";

	private RoundTrip() {
	}

	public static void main(String[] arguments) {
		ApiClient client = new ApiClient();
		client.setBasePath(arguments[0]);
		client.setBearerToken(arguments[1]);
		EntitiesApi entities = new EntitiesApi(client);
		String id = "java/ü \n";
		byte[] value = { 0, 1, (byte) 0xff };

		ResponseEntity<Void> written = entities.putEntityWithHttpInfo(id, value, "1h", null, ANY, null, null, null,
				null, "10s", null, null);
		require(written.getStatusCode().isSameCodeAs(HttpStatus.CREATED), "201 for a PUT");
		String etag = Objects.requireNonNull(written.getHeaders().getETag());

		ResponseEntity<byte[]> read = entities.getEntityWithHttpInfo(id, null, null, null, null, null, "10s", null, null);
		require(Arrays.equals(read.getBody(), value), "the bytes that were written");
		require(etag.equals(read.getHeaders().getETag()), "the ETag of the write");

		try {
			entities.putEntity(id, value, null, null, ANY, null, null, null, null, null, null, null);
			require(false, "412 for a condition that does not hold");
		}
		catch (HttpClientErrorException ex) {
			require(ex.getStatusCode().isSameCodeAs(HttpStatus.PRECONDITION_FAILED)
					&& ex.getResponseBodyAsString().contains("precondition-failed"), "412, not " + ex);
		}

		byte[] keys = new RangesApi(client).listEntities(null, null, "java/", null, false, null, null, null);
		require(new String(keys, StandardCharsets.UTF_8).contains("java/ü"), "the key in a listing");

		require(new NodeApi(client).getCluster().getNodes().size() == 1, "a node alone");
		require(Objects.equals(new NodeApi(client).getStatus().getTopology().getReplicationFactor(), 1), "factor 1");
		entities.deleteEntity(id, etag, null, null, null, null, null, null, null, null);
		try {
			entities.getEntity(id, null, null, null, null, null, null, null, null);
			require(false, "404 for what was deleted");
		}
		catch (HttpClientErrorException.NotFound expected) {
			System.out.println("The Java client has written, read, listed and deleted.");
		}
	}

	private static void require(boolean holds, String what) {
		if (!holds) {
			throw new AssertionError("Expected " + what);
		}
	}

}
