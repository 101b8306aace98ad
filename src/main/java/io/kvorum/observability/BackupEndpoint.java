package io.kvorum.observability;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.backup.BackupException;
import io.kvorum.backup.BackupManifest;
import io.kvorum.backup.BackupName;
import io.kvorum.backup.BackupService;
import io.kvorum.backup.BackupService.Described;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import reactor.core.publisher.Mono;

/**
 * Endpoint that creates, lists, verifies and removes backups of this node. Not exposed by
 * default.
 */
@WebEndpoint(id = "backup")
final class BackupEndpoint {

	private final BackupService backups;

	BackupEndpoint(BackupService backups) {
		this.backups = backups;
	}

	/** Lists the backups by their manifests; the files are not read. */
	@ReadOperation
	Mono<WebEndpointResponse<Object>> list() {
		return answer(this.backups.list().map(BackupEndpoint::listOf));
	}

	/** Creates a backup named after the time; completes when it is verified. */
	@WriteOperation
	Mono<WebEndpointResponse<Object>> create() {
		return answer(this.backups.create(null).map(BackupEndpoint::of));
	}

	/** Creates a backup of this name. */
	@WriteOperation
	Mono<WebEndpointResponse<Object>> create(@Selector String name) {
		return answer(Mono.defer(() -> this.backups.create(BackupName.of(name))).map(BackupEndpoint::of));
	}

	/**
	 * Reads every file of a backup again and compares it with the manifest. Completes
	 * after that. With API keys it takes the right to operate, although it is a GET.
	 */
	@ReadOperation
	Mono<WebEndpointResponse<Object>> verify(@Selector String name) {
		return answer(Mono.defer(() -> this.backups.verify(BackupName.of(name))).map(BackupEndpoint::of));
	}

	@DeleteOperation
	Mono<WebEndpointResponse<Object>> remove(@Selector String name) {
		return answer(Mono.defer(() -> this.backups.remove(BackupName.of(name))).map(_ -> Map.of("removed", name)));
	}

	private static Mono<WebEndpointResponse<Object>> answer(Mono<?> work) {
		return work.map(body -> new WebEndpointResponse<Object>(body, WebEndpointResponse.STATUS_OK))
			.onErrorResume(BackupException.class, ex -> Mono.just(refusal(ex)));
	}

	private static WebEndpointResponse<Object> refusal(BackupException ex) {
		int status = switch (ex.kind()) {
			case BAD_NAME -> WebEndpointResponse.STATUS_BAD_REQUEST;
			case NOT_FOUND -> WebEndpointResponse.STATUS_NOT_FOUND;
			case NOT_CONFIGURED, BUSY, EXISTS, WITHOUT_VOTE -> 409;
			case NO_SPACE -> 507;
			case DAMAGED, FAILED -> WebEndpointResponse.STATUS_INTERNAL_SERVER_ERROR;
		};
		boolean failed = status == WebEndpointResponse.STATUS_INTERNAL_SERVER_ERROR;
		return Problems.of(status, "backup-" + ReplicationMeters.text(ex.kind()),
				failed ? "Backup failed" : "Backup refused", String.valueOf(ex.getMessage()));
	}

	private static Map<String, Object> listOf(List<Described> backups) {
		return Map.of("backups", backups.stream().map(BackupEndpoint::listed).toList());
	}

	private static Map<String, Object> of(BackupManifest manifest) {
		return of(new Described(new BackupName(manifest.name()), manifest, null));
	}

	/** Describes a backup whose files were read. */
	private static Map<String, Object> of(Described backup) {
		Map<String, Object> body = listed(backup);
		body.put("verified", backup.problem() == null);
		return body;
	}

	private static Map<String, Object> listed(Described backup) {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("name", backup.name().text());
		BackupManifest manifest = backup.manifest();
		if (manifest != null) {
			body.put("made", manifest.made());
			body.put("bytes", manifest.bytes());
			body.put("files", manifest.files().size());
			body.put("node", manifest.self());
			if (manifest.layout() != null) {
				body.put("layout", manifest.layout());
			}
			body.put("converged", manifest.converged());
		}
		if (backup.problem() != null) {
			body.put("problem", backup.problem());
		}
		return body;
	}

}
